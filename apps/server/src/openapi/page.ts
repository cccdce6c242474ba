/** The OpenAPI document as one page: made here, without a script, and without anything that is loaded. */
import { createHash } from 'node:crypto';

import { METHODS, needsToken } from './document.ts';
import type { Answer, ApiDocument, Operation } from './document.ts';
import { constant, html, inline, prose, table, textOf } from './html.ts';
import type { Html } from './html.ts';
import { fieldsTable, nameOf, noteText, typeText } from './schema-text.ts';
import type { Schema } from './schema-text.ts';

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
};
type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
type Listed = { readonly method: string; readonly path: string; readonly operation: Operation };

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; overflow-wrap: break-word; }
code, pre { font: 0.9em/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
th, td { border-bottom: 1px solid; padding: 0.25rem 0.5rem; text-align: start; vertical-align: top; }
article { border-top: 2px solid; margin-top: 2rem; }
nav ul { columns: 18rem; padding-inline-start: 1rem; }
.method { font-weight: 700; text-transform: uppercase; }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

export type DocumentationPage = { readonly body: string; readonly policy: string };

export function documentationPage(document: ApiDocument): DocumentationPage {
  const sections = Map.groupBy(
    operationsOf(document),
    ({ operation }) => operation.tags?.[0] ?? 'Other',
  );
  const schemas = document.components?.schemas ?? {};
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${document.info.title} over HTTP</title>
        ${constant(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <header>
          <h1>${document.info.title} over HTTP</h1>
          ${prose(document.info.description ?? '')}
          <p>
            The examples are for a shell in which <code>ORION_URL</code> is the address that the
            server printed and <code>ORION_SERVER_TOKEN</code> its token. The same as a file:
            <a href="openapi.json">openapi.json</a>.
          </p>
        </header>
        <nav aria-label="Routes">
          ${[...sections].map(([tag, operations]) => contentsOf(tag, operations))}
          <h2><a href="#schemas">Schemas</a></h2>
        </nav>
        <main>
          ${[...sections].map(
            ([tag, operations]) =>
              html`<section>
                <h2>${tag}</h2>
                ${operations.map((each) => operationArticle(each, document))}
              </section>`,
          )}
          <section>
            <h2 id="schemas">Schemas</h2>
            ${Object.entries(schemas).map(([name, schema]) => schemaArticle(name, schema as Schema))}
          </section>
        </main>
      </body>
    </html> `;
  return {
    body: textOf(page),
    policy: `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

export function operationsOf(document: ApiDocument): readonly Listed[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );
}

function contentsOf(tag: string, operations: readonly Listed[]): Html {
  return html`<h2>${tag}</h2>
    <ul>
      ${operations.map(
        ({ method, path, operation }) =>
          html`<li>
            <a href="#${idOf(operation)}"
              ><span class="method">${method}</span> <code>${path}</code></a
            >
          </li>`,
      )}
    </ul>`;
}

function operationArticle(listed: Listed, document: ApiDocument): Html {
  const { method, path, operation } = listed;
  const parameters = (operation.parameters ?? []) as unknown as readonly Parameter[];
  const { description = '' } = operation;
  return html`<article id="${idOf(operation)}">
    <h3><span class="method">${method}</span> <code>${path}</code></h3>
    <p>${inline(operation.summary ?? '')}.${needsToken(operation) ? '' : ' Needs no token.'}</p>
    ${description === '' ? '' : prose(description)}
    ${parameters.length === 0 ? '' : parameterTable(parameters)}${bodyText(operation)}${answersTable(operation)}
    <pre>${curlOf(listed, document)}</pre>
  </article>`;
}

function parameterTable(parameters: readonly Parameter[]): Html {
  const rows = parameters.map(
    ({ name, in: place, required, schema, description = '' }) =>
      html`<tr>
        <td><code>${name}</code>${required === true ? '' : html`<small> optional</small>`}</td>
        <td>${place}</td>
        <td>${typeText(schema)}</td>
        <td>${noteText(description === '' ? schema : { ...schema, description })}</td>
      </tr>`,
  );
  return html`<h4>Parameters</h4>
    ${table(['name', 'in', 'type', ''], rows)}`;
}

function bodyText({ requestBody }: Operation): Html {
  const content = (requestBody as { readonly content?: Content } | undefined)?.content ?? {};
  return html`${Object.entries(content).map(
    ([type, { schema = {} }]) =>
      html`<h4>Body</h4>
        <p><code>${type}</code>: ${typeText(schema)}</p>
        ${fieldsTable(schema)}`,
  )}`;
}

function answersTable({ responses = {} }: Operation): Html {
  const rows = Object.entries(responses as Record<string, Answer>).map(
    ([status, { description = '', content = {}, $ref }]) => {
      const types = Object.entries(content as Content).map(
        ([type, { schema = {} }]) => html`<code>${type}</code> ${typeText(schema)} `,
      );
      const text = $ref === undefined ? description : ERRORS_OF_ALL;
      return html`<tr>
        <td>${status}</td>
        <td>${inline(text)}</td>
        <td>${types}</td>
      </tr>`;
    },
  );
  return html`<h4>Answers</h4>
    ${table(['status', '', 'content'], rows)}`;
}

const ERRORS_OF_ALL = 'As on every route.';

function schemaArticle(name: string, schema: Schema): Html {
  const { description = '', example } = schema;
  const isPlain = schema.properties === undefined;
  return html`<article id="schema-${name}">
    <h3>${name}</h3>
    ${description === '' ? '' : prose(description)}
    ${isPlain ? html`<p>${typeText(schema)}</p>` : ''}${fieldsTable(schema)}${variants(schema)}${
      example === undefined ? '' : html`<pre>${JSON.stringify(example, null, 2)}</pre>`
    }
  </article>`;
}

function variants({ oneOf, anyOf }: Schema): readonly Html[] {
  const unnamed = (oneOf ?? anyOf ?? []).filter((choice) => nameOf(choice) === null);
  return unnamed.map((choice) => fieldsTable(choice));
}

/** A request that can be pasted into a shell. */
export function curlOf({ method, path, operation }: Listed, document: ApiDocument): string {
  const body = operation.requestBody as { readonly content?: Content } | undefined;
  const [type] = Object.keys(body?.content ?? {});
  const lines = [
    'curl',
    ...(method === 'get' ? [] : [`-X ${method.toUpperCase()}`]),
    ...(needsToken(operation) ? ['-H "Authorization: Bearer $ORION_SERVER_TOKEN"'] : []),
    ...(type === undefined ? [] : [`-H 'Content-Type: ${type}'`]),
    ...(type === 'application/json'
      ? [`-d ${quoted(exampleOf(body?.content ?? {}, document))}`]
      : []),
    ...(type === 'application/octet-stream' ? ['--data-binary @FILE'] : []),
    `"$ORION_URL${path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => name.toUpperCase())}"`,
  ];
  return lines.join(' \\\n  ');
}

function exampleOf(content: Content, { components }: ApiDocument): string {
  const { example, schema = {} } = content['application/json'] ?? {};
  const named = components?.schemas?.[nameOf(schema) ?? ''] as Schema | undefined;
  return JSON.stringify(example ?? schema.example ?? named?.example ?? {});
}

/** As one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function idOf({ operationId = '' }: Operation): string {
  return operationId;
}

/** Whether values fit the schemas of a document, judged by a validator that shares no code with the server. */
import { Ajv2020 } from 'ajv/dist/2020.js';

import type { ApiDocument } from '../openapi/document.ts';
import { operationsOf } from '../openapi/page.ts';

type Content = Readonly<Record<string, { readonly schema?: object; readonly example?: unknown }>>;
type Answer = { readonly $ref?: string; readonly content?: Content };

/** Null if the value fits, else what does not. */
export type Fits = (value: unknown) => string | null;

export function schemaCheck(document: ApiDocument): (schema: object) => Fits {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  ajv.addSchema({ $id: 'document', ...document });
  const compiled = new Map<object, Fits>();
  return (schema) => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const validate = ajv.compile(absolute(schema) as object);
    const fits: Fits = (value) => (validate(value) ? null : ajv.errorsText(validate.errors));
    compiled.set(schema, fits);
    return fits;
  };
}

/** The schema with its references into the document. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' ? `document${String(inner)}` : absolute(inner),
    ]),
  );
}

/** The content types that an operation answers with this status, and their schemas; null if it describes none. */
export function answerContent(
  document: ApiDocument,
  responses: unknown,
  status: number,
): Content | null {
  const found = (responses as Readonly<Record<string, Answer>>)[String(status)];
  const name = found?.$ref?.split('/').at(-1);
  const shared = document.components?.responses as Readonly<Record<string, Answer>> | undefined;
  const answer = name === undefined ? found : shared?.[name];
  return answer === undefined ? null : (answer.content ?? {});
}

/** Every body of JSON that a request may have, with the example that the page shows. */
export function examplesOf(
  document: ApiDocument,
): readonly { readonly where: string; readonly example: unknown; readonly fits: Fits }[] {
  const check = schemaCheck(document);
  return operationsOf(document).flatMap(({ method, path, operation }) => {
    const { content = {} } = (operation.requestBody ?? {}) as { readonly content?: Content };
    const { schema, example } = content['application/json'] ?? {};
    if (schema === undefined) return [];
    const name = '$ref' in schema ? String(schema.$ref).split('/').at(-1) : undefined;
    const named = document.components?.schemas?.[name ?? ''] as { example?: unknown } | undefined;
    const shown = example ?? ('example' in schema ? schema.example : named?.example);
    return [{ where: `${method} ${path}`, example: shown, fits: check(schema) }];
  });
}

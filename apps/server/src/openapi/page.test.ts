// The documentation is one page that runs and loads nothing, and whose commands work.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { testApp } from '../testing/test-app.ts';
import { startTestServer, TOKEN } from '../testing/test-server.ts';
import { describeApi } from './document.ts';
import { html, inline, textOf } from './html.ts';
import { curlOf, documentationPage, operationsOf } from './page.ts';

const document = describeApi(testApp());
const run = promisify(execFile);
const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

describe('the page of the document (B17)', () => {
  it('is served without a token, under a policy that allows its one style and nothing else', async () => {
    const { ask } = await startTestServer();
    const { status, headers, text } = await ask('/docs', { token: null });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=UTF-8']);
    const [, style = ''] = /<style>([^<]*)<\/style>/u.exec(text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(text.match(/<style/gu)).toHaveLength(1);
  });

  it('has no script, no attribute that is one, no inline style, and no address of another place', () => {
    const { body } = documentationPage(document);
    expect(body).not.toMatch(
      /<script|<link|<img|<iframe|<form|<base|\son\w+=|\sstyle=|javascript:/iu,
    );
    const links = [...body.matchAll(/(?:href|src)="([^"]*)"/gu)].map(([, to]) => to ?? '');
    expect(links.filter((to) => !/^(?:#[\w-]+|openapi\.json)$/u.test(to))).toEqual([]);
    const ids = new Set([...body.matchAll(/\sid="([^"]*)"/gu)].map(([, id]) => `#${id}`));
    expect(links.filter((to) => to.startsWith('#') && !ids.has(to))).toEqual([]);
  });

  it('has every route, every parameter and every schema', () => {
    const { body } = documentationPage(document);
    for (const { method, path, operation } of operationsOf(document)) {
      expect(body).toContain(`<span class="method">${method}</span> <code>${path}</code>`);
      for (const parameter of operation.parameters ?? [])
        if ('name' in parameter) expect(body).toContain(`<code>${parameter.name}</code>`);
    }
    for (const name of Object.keys(document.components?.schemas ?? {}))
      expect(body).toContain(`id="schema-${name}"`);
  });

  it('shows text as text, whatever is in it', () => {
    const text = `<script>&"'\`</b>\``;
    expect(textOf(html`<p title="${text}">${text}</p>`)).toBe(
      '<p title="&lt;script&gt;&amp;&quot;&#39;`&lt;/b&gt;`">&lt;script&gt;&amp;&quot;&#39;`&lt;/b&gt;`</p>',
    );
    expect(textOf(html`${inline('a `<b>` c')}`)).toBe('a <code>&lt;b&gt;</code> c');
  });

  it.skipIf(!hasCurl)('shows commands that a shell understands', async () => {
    const { server } = await startTestServer();
    const asked = operationsOf(document).filter(({ path }) => !path.includes('{'));
    for (const listed of asked) {
      if (listed.method !== 'get') continue;
      const command = `${curlOf(listed, document)} -s -o /dev/null -w '%{http_code}' --max-time 5`;
      const env = { PATH: process.env['PATH'], ORION_URL: server.url, ORION_SERVER_TOKEN: TOKEN };
      const { stdout } = await run('sh', ['-c', command], { env });
      expect([command, stdout]).toEqual([command, '200']);
    }
  });
});

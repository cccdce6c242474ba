// Hazard: a page below a path of a proxy that loads, asks or links to what is beside that path.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, onTestFinished } from 'vitest';

import {
  expectClean,
  missingBrowser,
  openPage,
  pageLink,
  sendMessage,
  useBrowser,
} from '../support/browser.ts';
import { writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { goByKeys } from './support/go-by-keys.ts';
import { fully } from './support/page-writes.ts';

const BASE = '/tools/orion';

/** Offers a server below a path, and nothing else; the path is passed on or taken away. */
async function startPathProxy(hasToStrip: boolean) {
  let target = 0;
  const astray: string[] = [];
  const server = createServer((asked, answer) => {
    const { url = '', method, headers } = asked;
    if (!url.startsWith(`${BASE}/`)) {
      astray.push(url);
      answer.writeHead(404).end();
      return;
    }
    const path = hasToStrip ? url.slice(BASE.length) : url;
    const passed = request({ port: target, host: '127.0.0.1', path, method, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, astray, leadTo: (given: number) => (target = given) };
}

describe.skipIf(missingBrowser !== null)('the page below a path of a proxy', () => {
  const browser = useBrowser();

  for (const hasToStrip of [true, false]) {
    fully(
      `that is ${hasToStrip ? 'taken away' : 'passed on'}: log-in, a write, its trace, reload and a second tab`,
      async ({ machine }) => {
        const proxy = await startPathProxy(hasToStrip);
        const provider = await machine.provider(
          writeDocument({ target: 'docs/long.md', content: 'one\ntwo\n' }),
        );
        const server = await serve(machine, [
          '--base-url',
          provider.url,
          '--model',
          'scripted',
          '--base-path',
          BASE,
          '--allow-host',
          `127.0.0.1:${proxy.port}`,
        ]);
        proxy.leadTo(server.port);
        const link = new URL(pageLink(server));
        expect(link.pathname).toBe(`${BASE}/connect`);
        link.port = String(proxy.port);
        const watched = await openPage(browser(), link.href);
        const { page, context } = watched;
        const at = (path: string): string => `http://127.0.0.1:${proxy.port}${BASE}${path}`;
        await page.getByRole('heading', { name: 'Now' }).waitFor();
        expect(page.url()).toBe(at('/'));

        await sendMessage(page, 'Write it.');
        await page.getByRole('region', { name: 'Receipt' }).waitFor();
        expect(page.url()).toContain(at('/c/'));
        await page.reload();
        await page.locator('main').getByText('Write it.').first().waitFor();

        await goByKeys(page, 't', 'Traces');
        await page.locator('main a[data-row]').first().click();
        await page.getByRole('treegrid').waitFor();

        const second = await context.newPage();
        await second.goto(at('/w'));
        await second.getByRole('heading', { name: 'Writes' }).waitFor();
        expect(proxy.astray).toEqual([]);
        expectClean(watched, at('/'));
      },
    );
  }
});

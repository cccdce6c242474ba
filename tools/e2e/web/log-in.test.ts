// The page in a browser: who gets in, with what, and what is left of it (W5 to W8).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { serve, SERVER_TOKEN } from '../support/serve.ts';
import { test } from '../support/test.ts';
import { waitFor } from '../support/wait.ts';
import { fully, startWriting, textOf } from './support/page-writes.ts';

describe.skipIf(missingBrowser !== null)('the log-in of the page', () => {
  const browser = useBrowser();

  test('takes a link once, clears it, and stays in over a reload and in a second tab', async ({
    machine,
  }) => {
    const server = await serve(machine);
    const link = pageLink(server);
    const watched = await openPage(browser(), link);
    const { page, context } = watched;
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    expect(page.url()).toBe(`${server.url}/`);
    await page.goBack().catch(() => null);
    expect(page.url()).not.toContain('#');
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Now' }).waitFor();

    const second = await context.newPage();
    await second.goto(`${server.url}/w`);
    await second.getByRole('heading', { name: 'Writes' }).waitFor();

    const stranger = await openPage(browser(), link);
    await stranger.page.getByText('PAGE_LINK_USED').waitFor();
    expectClean(watched, server.url);
  });

  fully(
    'leaves neither a cookie nor anything that outlives the tab, and no secret in sight',
    async ({ machine }) => {
      const server = await serve(machine);
      const link = pageLink(server);
      const { page, context } = await openPage(browser(), link);
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      const stored = await page.evaluate(() => ({
        cookie: document.cookie,
        local: Object.keys(localStorage),
        session: sessionStorage.getItem('orion-page-session') ?? '',
        html: document.documentElement.outerHTML,
      }));
      expect([stored.cookie, stored.local, await context.cookies()]).toEqual(['', [], []]);
      const { key } = JSON.parse(stored.session) as { key: string };
      const code = new URL(link).hash.slice(1);
      for (const secret of [key, code, SERVER_TOKEN]) {
        expect(stored.html).not.toContain(secret);
        expect(JSON.stringify(server.log())).not.toContain(secret);
      }
    },
  );

  fully('exchanges the token that a person pastes, and forgets it', async ({ machine }) => {
    const server = await serve(machine);
    const { page } = await openPage(browser(), `${server.url}/w`);
    await page.getByLabel(/paste the server/u).fill('a wrong one');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('UNAUTHORIZED').waitFor();
    await page.getByLabel(/paste the server/u).fill(SERVER_TOKEN);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Writes' }).waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain(
      SERVER_TOKEN,
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel(/paste the server/u).waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('orion-page-session'))).toBeNull();
  });

  // An open tab goes on asking; one that is loaded again gets even its page from whoever listens.
  fully.for([
    ['open', () => undefined],
    ['loaded again', (page: Page) => page.reload()],
  ] as const)(
    '%s, gives its key to nobody who listens on the port afterwards',
    async ([, look], { machine }) => {
      // Both the views and the reader of a turn ask the server.
      const { page, server } = await startWriting(machine, browser());
      await waitFor('some text', async () => (await textOf(page)).length > 1000);
      const html = await page.content();
      const files = new Map<string, { type: string; body: string }>();
      for (const path of [
        '/',
        ...Array.from(html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/gu), ([, file = '']) => file),
      ]) {
        const { headers, text } = await server.ask(path, { token: null });
        files.set(path, { type: headers['content-type'] ?? '', body: text });
      }
      const key = await page.evaluate(
        () =>
          (JSON.parse(sessionStorage.getItem('orion-page-session') ?? '') as { key: string }).key,
      );
      server.running.kill('SIGKILL');
      await server.running.finished;

      const heard: string[] = [];
      const stranger = createServer((asked, answer) => {
        const { url = '' } = asked;
        heard.push(`${asked.method} ${url} ${JSON.stringify(asked.headers)}`);
        asked.on('data', (bytes: Buffer) => heard.push(bytes.toString()));
        const file = files.get(url.startsWith('/w/') ? '/' : url);
        answer.writeHead(200, { 'content-type': file?.type ?? 'application/json' });
        answer.end(
          file?.body ?? JSON.stringify({ proof: '00'.repeat(32), turns: [], sessions: [] }),
        );
      });
      await new Promise<void>((resolve) => stranger.listen(server.port, '127.0.0.1', resolve));
      try {
        await look(page);
        await page.getByText('This is not the server that you have logged in to.').waitFor();
        expect((stranger.address() as AddressInfo).port).toBe(server.port);
        expect(heard.join('\n')).toContain('/api/page/challenge');
        expect(heard.join('\n')).not.toContain(key);
      } finally {
        stranger.closeAllConnections();
        stranger.close();
      }
    },
  );

  fully('cannot be read, written or framed by a page of another port', async ({ machine }) => {
    const server = await serve(machine);
    const other = createServer((_asked, answer) => {
      answer.writeHead(200, { 'content-type': 'text/html' });
      answer.end(`<iframe src="${server.url}/"></iframe>`);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = other.address() as AddressInfo;
      const { page } = await openPage(browser(), `http://127.0.0.1:${port}/`);
      const outcome = await page.evaluate(async (target) => {
        const tried = async (path: string, init: RequestInit): Promise<string> =>
          fetch(`${target}${path}`, init).then(
            (answer) => `${answer.type} ${answer.status}`,
            () => 'refused',
          );
        const json = { 'content-type': 'application/json' };
        return [
          await tried('/api/page/challenge', { method: 'POST', headers: json, body: '{}' }),
          await tried('/api/page/links', { method: 'POST', body: '{}', mode: 'no-cors' }),
          await tried('/', {}),
        ];
      }, server.url);
      expect(outcome).toEqual([
        'refused',
        expect.stringMatching(/^(?:opaque 0|refused)$/u),
        'refused',
      ]);
      const frame = page.frames().find((each) => each.url().startsWith(server.url));
      expect(
        (await frame
          ?.locator('#root')
          .count()
          .catch(() => 0)) ?? 0,
      ).toBe(0);
    } finally {
      other.closeAllConnections();
      other.close();
    }
  });
});

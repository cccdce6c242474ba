/**
 * Hazard: an attacker who has a part of what it takes: a link, a name, a port, an origin, a tab.
 *
 * What is tried where:
 *
 * | attack                                   | test                                                                |
 * | ---------------------------------------- | ------------------------------------------------------------------- |
 * | another port asks, sends, frames, reads  | here; `log-in` (cannot be read, written or framed)                  |
 * | another origin, with every header        | `../serve-origin`                                                   |
 * | a stranger on the port after a kill      | `log-in` (gives its key to nobody); here: asks the tabs that are open |
 * | a used link                              | here; `log-in` (takes a link once)                                  |
 * | a guessed link                           | here                                                                |
 * | a wrong Host                             | here (a name that leads to this machine); `../serve-host`           |
 * | hostile file names and texts             | `hostile`, `hostile-everywhere`, `approvals` (Trojan Source)        |
 * | secrets where somebody may find them     | here                                                                |
 */
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { describe, expect, onTestFinished } from 'vitest';

import { missingBrowser, openPage, pageLink, sendMessage, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { writeDocument } from '../support/scripts.ts';
import { serve, SERVER_TOKEN } from '../support/serve.ts';
import { fully } from './support/page-writes.ts';

/** A server of somebody else, on this port or any. */
async function strange(
  answer: (asked: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<number> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const html = (text: string) => (_asked: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end(`<!doctype html><title>somebody else</title>${text}`);
};

const BEGUN = 'orion-page-session';

describe.skipIf(missingBrowser !== null)('an attacker', () => {
  const browser = useBrowser();

  fully(
    'with a used or guessed link gets no session, and soon not even an answer',
    async ({ machine }) => {
      const server = await serve(machine);
      const link = pageLink(server);
      const { page: owner } = await openPage(browser(), link);
      await owner.getByRole('heading', { name: 'Now' }).waitFor();
      const { page } = await openPage(browser(), 'about:blank');
      const got: (string | undefined)[] = [];
      const [until = '', nonce = ''] = new URL(link).hash.slice(1).split('.');
      const guesses = ['0', 'f', 'a', '5', '1'].map((digit) => [until, nonce, digit.repeat(32)]);
      for (const guess of [
        link.split('#')[1],
        ...guesses.map((parts) => parts.join('.')),
        'guess',
      ]) {
        await page.goto('about:blank');
        await page.goto(`${server.url}/connect#${guess}`);
        const error = page.getByRole('group', { name: 'Error' }).first();
        await error.waitFor();
        got.push((await error.textContent())?.split(':', 1)[0]);
        expect(page.url()).toBe(`${server.url}/`);
        expect(await page.evaluate((name) => sessionStorage.getItem(name), BEGUN)).toBeNull();
      }
      expect(got).toEqual([
        'PAGE_LINK_USED',
        ...Array.from({ length: 5 }, () => 'PAGE_LINK_INVALID'),
        'RATE_LIMITED',
      ]);
      // Who is in stays in.
      await owner.reload();
      await owner.getByRole('heading', { name: 'Now' }).waitFor();
    },
  );

  fully(
    'whose name leads to this machine gets no page, and spends no link',
    async ({ machine }) => {
      const server = await serve(machine);
      const { port } = server;
      const code = new URL(pageLink(server)).hash;
      const { page } = await openPage(browser(), 'about:blank');
      for (const name of ['evil.localhost', 'orion.evil.localhost']) {
        const answer = await page.goto(`http://${name}:${port}/connect${code}`);
        expect([name, answer?.status()]).toEqual([name, 403]);
        expect(await page.content()).toContain('HOST_NOT_ALLOWED');
        // The policy of that answer refuses what the server would.
        const tried = await page.evaluate(() =>
          Promise.all(
            ['/api/turns', '/api/page/challenge'].map((path) =>
              fetch(path, { method: 'POST', body: '{}' }).then(
                ({ status }) => String(status),
                () => 'refused',
              ),
            ),
          ),
        );
        expect([name, tried]).toEqual([name, ['refused', 'refused']]);
      }
      await page.goto(pageLink(server));
      await page.getByRole('heading', { name: 'Now' }).waitFor();
    },
  );

  fully(
    'on another port finds no cookie, no key and no tab, and changes nothing',
    async ({ machine }) => {
      await machine.write('a.txt', 'before\n');
      const server = await serve(machine);
      const { page: owner, context } = await openPage(browser(), pageLink(server));
      await owner.getByRole('heading', { name: 'Now' }).waitFor();
      const key = await owner.evaluate((name) => sessionStorage.getItem(name) ?? '', BEGUN);
      const heard: string[] = [];
      const port = await strange((asked, response) => {
        heard.push(JSON.stringify(asked.headers));
        html(`<form id="f" method="post" action="${server.url}/api/chat/messages"
              enctype="text/plain"><input name='{"content":"Write it.","x":"' value='"}'></form>
            <img src="${server.url}/api/turns"><script src="${server.url}/api/status"></script>
            <link rel="stylesheet" href="${server.url}/assets/index.css">`)(asked, response);
      });
      // In the same browser, beside the tab that is logged in, and as its opener would have it.
      const other = await context.newPage();
      await other.goto(`http://127.0.0.1:${port}/`);
      const found = await other.evaluate(async (target) => {
        const said: unknown[] = [];
        const channel = new BroadcastChannel('orion-page');
        channel.onmessage = ({ data }) => said.push(data);
        channel.postMessage({ kind: 'ask', id: 'x' });
        const opened = window.open(`${target}/`);
        const looked = (look: () => unknown): string => {
          try {
            return JSON.stringify(look()) ?? 'nothing';
          } catch (error) {
            return (error as Error).name;
          }
        };
        const tried = async (path: string, init: RequestInit): Promise<string> =>
          fetch(`${target}${path}`, init).then(
            ({ type, status }) => `${type} ${status}`,
            () => 'refused',
          );
        const outcome = {
          cookie: document.cookie,
          stored: { ...localStorage, ...sessionStorage },
          session: looked(() => opened?.sessionStorage.getItem('orion-page-session')),
          text: looked(() => opened?.document.body.textContent),
          turns: await tried('/api/turns', { credentials: 'include' }),
          asked: await tried('/api/chat/messages', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ content: 'Write it.' }),
          }),
          events: await new Promise((resolve) => {
            const source = new EventSource(`${target}/api/turns`);
            source.onerror = () => resolve('refused');
            source.onmessage = () => resolve('read');
          }),
          socket: await new Promise((resolve) => {
            const socket = new WebSocket(`${target.replace('http', 'ws')}/`);
            socket.onerror = () => resolve('refused');
            socket.onopen = () => resolve('open');
          }),
          said,
        };
        opened?.close();
        return outcome;
      }, server.url);
      expect(found).toEqual({
        cookie: '',
        stored: {},
        session: expect.stringMatching(/^(?:SecurityError|nothing|null)$/u),
        text: expect.stringMatching(/^(?:SecurityError|nothing|null|"")$/u),
        turns: 'refused',
        asked: 'refused',
        events: 'refused',
        socket: 'refused',
        said: [],
      });
      // A form is sent without being asked, and answered with a refusal.
      const sent = other.waitForNavigation();
      await other.evaluate(() => document.querySelector('form')?.submit());
      expect((await sent)?.status()).toBe(403);
      expect(heard.join('\n')).not.toContain('cookie');
      expect(heard.join('\n')).not.toContain((JSON.parse(key) as { key: string }).key);
      expect((await server.ask('/api/turns')).json).toMatchObject({ turns: [] });
      expect(String(await machine.read('a.txt'))).toBe('before\n');
    },
  );

  fully(
    'on the port of a dead server is given no session by the tabs that are open',
    async ({ machine }) => {
      const server = await serve(machine);
      const { page: owner, context } = await openPage(browser(), pageLink(server));
      await owner.getByRole('heading', { name: 'Now' }).waitFor();
      server.running.kill('SIGKILL');
      await server.running.finished;
      // At once: no tab has learned yet that its server is gone.
      await strange(html('nothing to see'), server.port);
      const other = await context.newPage();
      await other.goto(server.url);
      const given = await other.evaluate(async () => {
        const said: string[] = [];
        const channel = new BroadcastChannel('orion-page');
        channel.onmessage = ({ data }) => said.push(JSON.stringify(data));
        for (let time = 0; time < 20; time += 1) {
          channel.postMessage({ kind: 'ask', id: String(time) });
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        return said.join('\n');
      });
      expect(given).not.toContain('key');
    },
  );

  fully('who reads what is left behind finds no token, key or code', async ({ machine }) => {
    const provider = await machine.provider(writeDocument({ target: 'a.md', content: 'one\n' }));
    const server = await serve(machine, at(provider));
    const link = pageLink(server);
    const { page, context } = await openPage(browser(), 'about:blank');
    const asked: string[] = [];
    context.on('request', (request) =>
      asked.push(request.url(), request.headers()['referer'] ?? ''),
    );
    await page.goto(link);
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await sendMessage(page, 'Write it.');
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    const { session, ...left } = await page.evaluate(
      (name) => ({
        session: sessionStorage.getItem(name) ?? '',
        local: JSON.stringify({ ...localStorage }),
        document: document.documentElement.outerHTML,
        title: document.title,
        place: location.href,
        cookie: document.cookie,
      }),
      BEGUN,
    );
    await page.getByRole('navigation').getByRole('link', { name: 'Traces' }).click();
    await page.locator('main a[data-row]').first().click();
    await page.getByRole('treegrid').waitFor();
    const { key } = JSON.parse(session) as { key: string };
    const code = new URL(link).hash.slice(1);
    expect([key.length, code.length]).toEqual([64, expect.any(Number)]);
    const { text: traces } = await server.ask('/api/traces');
    const files = await readdir(machine.path('.orion'), { recursive: true, withFileTypes: true });
    const stored = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map(async (file): Promise<[string, string]> => {
          const path = join(file.parentPath, file.name);
          return [path, (await readFile(path)).toString('latin1')];
        }),
    );
    const places: readonly (readonly [string, string])[] = [
      ['addresses', asked.join('\n')],
      ['log', JSON.stringify(server.log())],
      ['traces', traces],
      ['trace on the page', await page.content()],
      ...Object.entries(left),
      ...stored,
    ];
    expect(places.length).toBeGreaterThan(10);
    for (const [place, text] of places)
      for (const [what, secret] of Object.entries({ token: SERVER_TOKEN, key, code }))
        expect([place, what, text.includes(secret)]).toEqual([place, what, false]);
  });
});

// Hazard: what somebody has typed is gone, or is sent or drawn twice (page reload, death of the server, sign-out,
// lost or late answer).
import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { writeDocument } from '../support/scripts.ts';
import { serve, SERVER_TOKEN } from '../support/serve.ts';
import type { HttpAnswer, ServedProcess } from '../support/serve.ts';
import { test } from '../support/test.ts';
import { waitFor } from '../support/wait.ts';
import { fully, LONG_TEXT } from './support/page-writes.ts';

const TEXT = 'Write it, once.';
const MESSAGES = '**/api/chat/messages';
/** Its turn runs for longer than the page needs to find it. */
const SLOW = writeDocument(
  { target: 'a.md', content: LONG_TEXT },
  { shape: { eventsPerSecond: 12 } },
);

const message = (page: Page) => page.getByLabel('Message');
const send = (page: Page) => page.getByRole('button', { name: 'Send' });

/** A new conversation whose message is typed, and not sent. */
async function typed(
  machine: Sandbox,
  open: (link: string) => Promise<Page>,
  script = writeDocument({ target: 'a.md', content: 'one\n' }),
) {
  const provider = await machine.provider(script);
  const server = await serve(machine, at(provider));
  const page = await open(pageLink(server));
  await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
  await page.getByRole('link', { name: 'New conversation' }).click();
  await message(page).fill(TEXT);
  return { provider, server, page };
}

async function countTurns(server: Pick<ServedProcess, 'ask'>, query = ''): Promise<number> {
  const { json } = await server.ask(`/api/turns${query}`);
  return (json as { turns: unknown[] }).turns.length;
}

/** The answer of the server to a request that it does not get from the page. */
async function askedFor(server: ServedProcess, route: Route): Promise<HttpAnswer> {
  const asked = route.request();
  const headers = { ...asked.headers(), host: `127.0.0.1:${server.port}` };
  return server.ask('/api/chat/messages', { headers, body: asked.postData() ?? '' });
}

/** The question, and the turn that it began. */
async function countDrawn(page: Page): Promise<readonly number[]> {
  return [
    await page.locator('.user').count(),
    await page.getByRole('article', { name: 'Turn' }).count(),
  ];
}

describe.skipIf(missingBrowser !== null)('a message that is typed', () => {
  const browser = useBrowser();
  const open = async (link: string): Promise<Page> => (await openPage(browser(), link)).page;

  test('outlives a reload, and a double click sends one turn', async ({ machine }) => {
    const { server, page } = await typed(machine, open);
    await page.reload();
    await message(page).waitFor();
    expect(await message(page).inputValue()).toBe(TEXT);
    await send(page).dblclick();
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    expect(await countTurns(server)).toBe(1);
    expect(await message(page).inputValue()).toBe('');
  });

  fully.for([
    { mode: 'Act', isOver: false },
    { mode: 'Act', isOver: true },
    { mode: 'Plan: change nothing', isOver: true },
  ])(
    'begins one turn, drawn once, where the page is loaded again before the answer (%o)',
    async ({ mode, isOver }, { machine }) => {
      const { server, page } = await typed(machine, open);
      const chosen = page.getByRole('radio', { name: mode });
      await chosen.check();
      // The server has it, and its answer never comes.
      await page.route(MESSAGES, async (route) => void (await askedFor(server, route)));
      await send(page).click();
      await waitFor('the turn', async () => (await countTurns(server)) === 1);
      if (isOver) {
        const countRunning = () => countTurns(server, '?state=running');
        await waitFor('its end', async () => (await countRunning()) === 0);
      }
      await page.reload();
      await page.unroute(MESSAGES);
      await message(page).waitFor();
      expect(await message(page).inputValue()).toBe(TEXT);
      expect(await chosen.isChecked()).toBe(true);
      await page.locator('.user').waitFor();
      await send(page).click();
      await waitFor('the confirmation', async () => (await message(page).inputValue()) === '');
      await page.getByRole('article', { name: 'Turn' }).getByText('All written.').waitFor();
      expect(await countTurns(server)).toBe(1);
      expect(await countDrawn(page)).toEqual([1, 1]);
      expect(await page.getByText('All written.').count()).toBe(1);
      expect(await chosen.isChecked()).toBe(true);
    },
  );

  fully('is drawn once where the page finds its turn before the answer', async ({ machine }) => {
    const { server, page } = await typed(machine, open, SLOW);
    const drawn = page.getByRole('article', { name: 'Turn' });
    await page.route(MESSAGES, async (route) => {
      const { status, json } = await askedFor(server, route);
      await drawn.waitFor();
      await route.fulfill({ status, json });
    });
    await message(page).press('Control+Enter');
    await waitFor('the confirmation', async () => (await message(page).inputValue()) === '');
    await page.locator('.user').first().waitFor();
    expect(await countDrawn(page)).toEqual([1, 1]);
    // What is typed next is not lost.
    await page.keyboard.type('And');
    expect(await message(page).inputValue()).toBe('And');
  });

  fully('keeps what is typed while it is being sent', async ({ machine }) => {
    const { server, page } = await typed(machine, open);
    const typedBehind = Promise.withResolvers<void>();
    await page.route(MESSAGES, async (route) => {
      await typedBehind.promise;
      await route.continue();
    });
    await message(page).press('Control+Enter');
    await page.getByRole('button', { name: 'Send', disabled: true }).waitFor();
    await message(page).press('End');
    await page.keyboard.type(' Please.');
    typedBehind.resolve();
    await page.getByRole('article', { name: 'Turn' }).getByText('All written.').waitFor();
    expect(await countTurns(server)).toBe(1);
    expect(await message(page).inputValue()).toBe(`${TEXT} Please.`);
  });

  fully('outlives the death of the server, also while it was being sent', async ({ machine }) => {
    const { provider, server, page } = await typed(machine, open);
    server.running.kill('SIGKILL');
    await server.running.finished;
    await send(page).click();
    await page.locator('form').getByRole('group', { name: 'Error' }).waitFor();
    expect(await message(page).inputValue()).toBe(TEXT);
    await message(page).fill(`${TEXT} Please.`);
    const again = await serve(machine, [...at(provider), '--port', String(server.port)]);
    await page.reload();
    await message(page).waitFor();
    expect(await message(page).inputValue()).toBe(`${TEXT} Please.`);
    await send(page).click();
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    expect(await countTurns(again)).toBe(1);
  });

  fully('outlives a sign-out, by oneself and by somebody else', async ({ machine }) => {
    const { server, page } = await typed(machine, open);
    const place = page.url();
    const logIn = async (): Promise<void> => {
      await page.getByLabel(/paste the server/u).fill(SERVER_TOKEN);
      await page.getByRole('button', { name: 'Log in' }).click();
      await message(page).waitFor();
      expect([page.url(), await message(page).inputValue()]).toEqual([place, TEXT]);
    };
    await page.getByRole('button', { name: 'Sign out' }).click();
    await logIn();
    const env = { ORION_SERVER_TOKEN: SERVER_TOKEN };
    expect((await machine.run(['web', '--sign-out-all'], { env })).exitCode).toBe(0);
    await logIn();
    await send(page).click();
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    expect(await countTurns(server)).toBe(1);
  });
});

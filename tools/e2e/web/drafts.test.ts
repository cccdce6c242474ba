// Hazard: what somebody has typed is gone, or is sent twice (page reload, death of the server, sign-out, lost answer).
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { writeDocument } from '../support/scripts.ts';
import { serve, SERVER_TOKEN } from '../support/serve.ts';
import type { ServedProcess } from '../support/serve.ts';
import { test } from '../support/test.ts';
import { waitFor } from '../support/wait.ts';
import { fully } from './support/page-writes.ts';

const TEXT = 'Write it, once.';
const MESSAGES = '**/api/chat/messages';

const message = (page: Page) => page.getByLabel('Message');
const send = (page: Page) => page.getByRole('button', { name: 'Send' });

/** A new conversation whose message is typed, and not sent. */
async function typed(machine: Sandbox, open: (link: string) => Promise<Page>) {
  const provider = await machine.provider(writeDocument({ target: 'a.md', content: 'one\n' }));
  const server = await serve(machine, at(provider));
  const page = await open(pageLink(server));
  await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
  await page.getByRole('link', { name: 'New conversation' }).click();
  await message(page).fill(TEXT);
  return { provider, server, page };
}

async function countTurns(server: Pick<ServedProcess, 'ask'>): Promise<number> {
  const { json } = await server.ask('/api/turns');
  return (json as { turns: unknown[] }).turns.length;
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

  fully('begins one turn where the page is loaded again before the answer', async ({ machine }) => {
    const { server, page } = await typed(machine, open);
    // The server has it, and its answer never comes.
    await page.route(MESSAGES, async (route) => {
      const asked = route.request();
      const headers = { ...asked.headers(), host: `127.0.0.1:${server.port}` };
      await server.ask('/api/chat/messages', { headers, body: asked.postData() ?? '' });
    });
    await send(page).click();
    await waitFor('the turn', async () => (await countTurns(server)) === 1);
    await page.reload();
    await page.unroute(MESSAGES);
    await message(page).waitFor();
    expect(await message(page).inputValue()).toBe(TEXT);
    await page.getByRole('main').getByText(TEXT).first().waitFor();
    await send(page).click();
    await waitFor('the confirmation', async () => (await message(page).inputValue()) === '');
    expect(await countTurns(server)).toBe(1);
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

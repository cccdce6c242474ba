// Hazard: a job that a person without a pointer can begin, and not finish, or in which they lose their place.
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { say, serve } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { waitFor } from '../support/wait.ts';
import { goTo, hasFocus, press } from './support/keyboard.ts';
import { fully } from './support/page-writes.ts';

describe.skipIf(missingBrowser !== null)('by keyboard alone', () => {
  const browser = useBrowser();

  fully(
    'an unfinished write is compared with its file, and written over it',
    async ({ machine }) => {
      const server = await serve(machine);
      await machine.write('a.txt', 'before\n');
      const id = await upload(server, 'a.txt', 'saved\n', 'overwrite');
      await machine.write('a.txt', 'edited\n');
      await server.ask(`/api/write-sessions/${id}/finalize`, { json: {} });
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await press(page, 'Writes');
      await page.getByRole('heading', { level: 1, name: 'Writes' }).waitFor();
      await page.getByRole('link', { name: 'a.txt' }).waitFor();
      await press(page, 'a.txt');
      await page.getByRole('heading', { level: 1, name: 'a.txt' }).waitFor();
      await page.getByRole('button', { name: 'Write a.txt…' }).waitFor();
      await press(page, 'Write a.txt…');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('cell', { name: 'edited' }).waitFor();
      await goTo(page, 'Keep both: the saved text goes into a file beside it');
      await goTo(page, 'Overwrite the file as it is now', 'ArrowDown');
      await press(page, 'Overwrite a.txt');
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(String(await machine.read('a.txt'))).toBe('saved\n');
      await hasFocus(page);
      await press(page, /^Diff of /u);
      await page.getByRole('cell', { name: 'saved' }).waitFor();
    },
  );

  fully('a write is stopped, and what there is of it discarded', async ({ machine }) => {
    const script = { target: 'a.txt', content: numbered('line', 1, 200) };
    const faults = [{ kind: 'stall', at: { lines: 100 } }] as const;
    const provider = await machine.provider(writeDocument(script, { faults }));
    const server = await serve(machine, at(provider));
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await press(page, 'Conversations');
    await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor();
    await press(page, 'New conversation');
    await page.getByLabel('Message').waitFor();
    await goTo(page, 'Act');
    await goTo(page, 'Plan: change nothing', 'ArrowUp');
    await goTo(page, 'Act', 'ArrowDown');
    await goTo(page, 'Message', 'Shift+Tab');
    await page.keyboard.type('Write it.');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('link', { name: 'a.txt' }).waitFor();
    await press(page, 'a.txt');
    await page.getByText('line 99').waitFor();
    await press(page, 'Stop');
    await page.getByText('The turn was stopped.').waitFor();
    await hasFocus(page);
    await press(page, 'Discard…');
    await page.getByRole('dialog').waitFor();
    await waitFor('an end of the session', async () => {
      const { json } = await server.ask('/api/write-sessions');
      return (json as { sessions: { status: string }[] }).sessions[0]?.status === 'paused';
    });
    const discard = page.getByRole('dialog').getByRole('button', { name: /^Discard [\d,]+ B$/u });
    await press(page, (await discard.textContent()) ?? '');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await hasFocus(page);
    expect((await server.ask('/api/write-sessions')).json).toMatchObject({ sessions: [] });
    expect(await machine.exists('a.txt')).toBe(false);
  });

  fully('a plan is corrected, looked at and applied', async ({ machine }) => {
    await machine.write('a.txt', 'old\n');
    const server = await serve(machine);
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await press(page, 'Plan');
    await page.getByRole('heading', { level: 1, name: 'Plan' }).waitFor();
    const operations = [{ type: 'overwrite', target_file: 'a.txt', content: 'new\n' }];
    const text = JSON.stringify({ intent: 'test', operations });
    await goTo(page, 'Its text');
    await page.keyboard.insertText(text.slice(0, -1));
    await press(page, 'Show what it would change');
    await page.getByText('INVALID_PLAN').waitFor();
    await hasFocus(page);
    await goTo(page, 'Its text', 'Shift+Tab');
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('}');
    await press(page, 'Show what it would change');
    await page.getByRole('cell', { name: 'new' }).waitFor();
    await hasFocus(page);
    expect(String(await machine.read('a.txt'))).toBe('old\n');
    await press(page, 'Change 1 file');
    await page.getByText('Applied', { exact: true }).waitFor();
    await hasFocus(page);
    expect(String(await machine.read('a.txt'))).toBe('new\n');
  });

  fully('a question is answered with no, and with why', async ({ machine }) => {
    const provider = await machine.provider(writeDocument({ target: 'a.txt', content: 'new\n' }));
    const server = await serve(machine, [...at(provider), '--approve', 'ask']);
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    const asking = say(server, { content: 'Write it.' });
    const card = page.getByRole('region', { name: 'Approval' });
    await card.getByRole('cell', { name: 'new' }).waitFor();
    await page.locator('.approval [inert]').waitFor({ state: 'detached' });
    await page.keyboard.press('.');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H2');
    await goTo(page, 'Reason for a no (the model reads it)');
    await page.keyboard.type('Not yet.');
    await press(page, 'No');
    expect((await asking).events.at(-1)).toMatchObject({ type: 'done', status: 'paused' });
    await hasFocus(page);
    expect(await machine.exists('a.txt')).toBe(false);
  });

  fully('a trace is found, and an event in it', async ({ machine }) => {
    const provider = await machine.provider(writeDocument({ target: 'a.md', content: 'one\n' }));
    const server = await serve(machine, at(provider));
    const { events } = await say(server, { content: 'Write it.' });
    const requestId = events[0]?.requestId ?? '';
    await waitFor('the trace', async () =>
      (await server.ask(`/api/traces?requestId=${requestId}`)).text.includes('turn_ended'),
    );
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await press(page, 'Traces');
    await page.locator('main a[data-row]').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const grid = page.getByRole('treegrid');
    await grid.waitFor();
    await hasFocus(page);
    await goTo(page, (await grid.getAttribute('aria-label')) ?? '');
    await page.keyboard.press('End');
    await grid.locator('[aria-selected=true]', { hasText: 'turn_ended' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'turn_ended' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'turn_ended' }).waitFor({ state: 'detached' });
    expect(await grid.evaluate((element) => element === document.activeElement)).toBe(true);
  });
});

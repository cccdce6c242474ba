// Hazard: a job that a keyboard can do, but not from every place where it begins, or whose focus lies below a bar.
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve, SERVER_TOKEN } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { goTo, hasFocus, press } from './support/keyboard.ts';
import { fully, startWriting } from './support/page-writes.ts';
import { nextFrame } from './support/page-time.ts';

describe.skipIf(missingBrowser !== null)('by keyboard alone, elsewhere', () => {
  const browser = useBrowser();

  fully('somebody logs in with the token, and signs out', async ({ machine }) => {
    const server = await serve(machine);
    const { page } = await openPage(browser(), server.url);
    await page.getByLabel(/paste the server/u).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type(SERVER_TOKEN);
    await press(page, 'Log in');
    await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
    await press(page, 'Sign out');
    await page.getByLabel(/paste the server/u).waitFor();
    await hasFocus(page);
  });

  fully('a change is found in its list, looked at and undone', async ({ machine }) => {
    const server = await serve(machine);
    for (const name of ['a.txt', 'b.txt']) {
      const id = await upload(server, name, `${name}\n`);
      await server.ask(`/api/write-sessions/${id}/finalize`, { json: {} });
    }
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await press(page, 'Changes');
    await page.locator('main li').nth(1).waitFor();
    // From row to row: the second one is the older change.
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'a.txt' }).waitFor();
    await goTo(page, /^Undo… a\.txt, /u);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('table').waitFor();
    await press(page, 'Undo a.txt');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await hasFocus(page);
    expect([await machine.exists('a.txt'), await machine.exists('b.txt')]).toEqual([false, true]);
  });

  fully('a file that is written is followed, searched, and followed again', async ({ machine }) => {
    const { page, provider } = await startWriting(machine, browser());
    const text = page.getByRole('region', { name: 'Text of the file' });
    await text.getByText('number 20', { exact: false }).first().waitFor();
    await goTo(page, 'Find text, or :line', 'Shift+Tab');
    await page.keyboard.type(':3');
    await page.keyboard.press('Enter');
    await page.getByText('Line 3', { exact: true }).waitFor();
    await page.getByRole('button', { name: /new line/u }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('End');
    await page.getByRole('button', { name: /new line/u }).waitFor({ state: 'detached' });
    await hasFocus(page);
    await press(page, 'Stop');
    await page.getByText('The turn was stopped.').waitFor();
    await hasFocus(page);
    provider.hurry();
  });

  fully('a command is allowed, and what needs somebody is gone', async ({ machine }) => {
    const command = 'echo done > made.txt';
    const provider = await machine.provider({
      behaviours: [
        {
          name: 'command',
          when: { toolResults: 0 },
          reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
        },
        { name: 'last word', reply: { text: 'Made.' } },
      ],
    });
    const options = ['--approve', 'ask', '--approve-commands', 'ask', '--sandbox', 'off'];
    const server = await serve(machine, [...at(provider), ...options]);
    await server.ask('/api/chat/messages', {
      json: { content: 'Make it.' },
      headers: { accept: 'application/json' },
    });
    const { page } = await openPage(browser(), pageLink(server));
    const needs = page.getByRole('region', { name: 'Needs you' });
    await needs.waitFor();
    await press(page, `Run ${command}`);
    await page.getByRole('heading', { level: 1, name: 'Approval' }).waitFor();
    await page.locator('.approval [inert]').waitFor({ state: 'detached' });
    await page.keyboard.press('.');
    await press(page, `Yes: Run ${command}`);
    await page.getByText('Approved.').waitFor();
    await hasFocus(page);
    await press(page, 'Now');
    await needs.waitFor({ state: 'detached' });
    await expect.poll(() => machine.exists('made.txt')).toBe(true);
  });

  fully('on a phone the bar lies on nothing that has the focus', async ({ machine }) => {
    await machine.write('a.txt', numbered('line', 1, 60));
    const script = { target: 'a.txt', content: numbered('other line', 1, 60) };
    const provider = await machine.provider(writeDocument(script, { operation: 'overwrite' }));
    const server = await serve(machine, [...at(provider), '--approve', 'ask']);
    await upload(server, 'b.txt', numbered('line', 1, 60));
    await server.ask('/api/chat/messages', {
      json: { content: 'Write it.' },
      headers: { accept: 'application/json' },
    });
    const { page } = await openPage(browser(), pageLink(server));
    await page.setViewportSize({ width: 360, height: 640 });
    await page.getByRole('region', { name: 'Needs you' }).getByRole('link').click();
    await page.getByRole('cell').first().waitFor();
    await page.locator('.approval [inert]').waitFor({ state: 'detached' });
    const covered: string[] = [];
    for (const name of [/^Yes: /u, /^Yes, and/u, /^No$/u]) {
      const button = page.getByRole('button', { name });
      await button.focus();
      await page.keyboard.press('Shift+Tab');
      // Where it lies below the bar, and in the window.
      await button.evaluate((element) => {
        window.scrollBy(0, element.getBoundingClientRect().bottom - window.innerHeight + 4);
      });
      await page.keyboard.press('Tab');
      await nextFrame(page);
      const { isFocused, bottom, barTop } = await button.evaluate((element) => ({
        isFocused: element === document.activeElement,
        bottom: element.getBoundingClientRect().bottom,
        barTop: document.querySelector('nav')?.getBoundingClientRect().top ?? 0,
      }));
      expect(isFocused).toBe(true);
      if (bottom > barTop) covered.push(`${name}: ${bottom} of ${barTop}`);
    }
    expect(covered).toEqual([]);
  });
});

// Hazard: a view or a state that only some people ever see breaks a rule of accessibility, in one of three appearances.
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, sendMessage, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { LAST_WORD, writeDocument } from '../support/scripts.ts';
import { say, serve } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { waitFor } from '../support/wait.ts';
import { judge } from './support/judge.ts';
import { countCharacters, fully } from './support/page-writes.ts';

const card = (page: Page) => page.getByRole('region', { name: 'Approval' });

/** What is shown takes a yes. */
const settled = (page: Page): Promise<void> =>
  page.locator('.approval [inert]').waitFor({ state: 'detached' });

describe.skipIf(missingBrowser !== null)('access to what only some people see', () => {
  const browser = useBrowser();

  fully('an approval of a write, of a command, and decided; and its tree', async ({ machine }) => {
    await machine.write('a.txt', `${'old '.repeat(60)}\nsame\n`);
    const { behaviours } = writeDocument(
      { target: 'a.txt', content: `new\u{200b}${'wide'.repeat(60)}\nsame\n` },
      { operation: 'overwrite' },
    );
    const command = `echo ${'a-long-word'.repeat(30)}${' '.repeat(100)}; true`;
    const provider = await machine.provider({
      behaviours: [
        {
          name: 'command',
          when: { lastUser: 'Run it.', toolResults: { max: 1 }, lastRole: 'user' },
          reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
        },
        ...behaviours,
        LAST_WORD,
      ],
    });
    const options = ['--approve', 'ask', '--approve-commands', 'ask', '--sandbox', 'off'];
    const server = await serve(machine, [...at(provider), ...options]);
    const { page } = await openPage(browser(), pageLink(server));
    await sendMessage(page, 'Write it.');
    await card(page).getByRole('cell').first().waitFor();
    await settled(page);
    const tree = await card(page).ariaSnapshot();
    const shape = tree
      .replaceAll(machine.workspace, '/project')
      .replaceAll(/(?:old ?|wide){9,}/gu, 'many words')
      .replaceAll(/\b[0-9a-f]{64}\b/gu, 'hash')
      .replaceAll(/\d[\d,]*/gu, '#');
    expect(`${shape}\n`).toMatchSnapshot();
    await judge(page, 'approval of a write');
    await page.getByRole('navigation').getByRole('link', { name: 'Now' }).click();
    await page.getByRole('region', { name: 'Needs you' }).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Approval' }).waitFor();
    await settled(page);
    await judge(page, 'approval, view');
    await card(page)
      .getByRole('button', { name: /^Yes: / })
      .click();
    await card(page).getByText('Approved.').waitFor();
    await card(page).getByText('What it was about').click();
    await judge(page, 'approval, decided');
    await sendMessage(page, 'Run it.');
    await card(page).getByText('What it changes cannot be undone').waitFor();
    await settled(page);
    await judge(page, 'approval of a command');
  });

  fully(
    'a trace with its details, a plan, an undo, and what is found in a file',
    async ({ machine }) => {
      const content = `${'a line that is longer than a phone is wide '.repeat(4)}\n`.repeat(40);
      const provider = await machine.provider(writeDocument({ target: 'a.md', content }));
      const server = await serve(machine, at(provider));
      const { events } = await say(server, { content: 'Write it.' });
      const requestId = events[0]?.requestId ?? '';
      await waitFor('the trace', async () =>
        (await server.ask(`/api/traces?requestId=${requestId}`)).text.includes('turn_ended'),
      );
      await upload(server, 'left.txt', content);
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await judge(page, 'something unfinished');

      await page.goto(`${server.url}/t/${requestId}`);
      await page.getByRole('treegrid').focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'turn_ended' }).waitFor();
      await judge(page, 'trace');

      await page.goto(`${server.url}/plan`);
      await page.getByLabel('Its text').fill('{');
      await page.getByRole('button', { name: 'Show what it would change' }).click();
      await page.getByText('INVALID_PLAN').waitFor();
      await judge(page, 'plan, wrong');
      const operations = [{ type: 'create', target_file: 'b.md', content }];
      await page.getByLabel('Its text').fill(JSON.stringify({ intent: 'test', operations }));
      await page.getByRole('button', { name: 'Show what it would change' }).click();
      await page.getByRole('cell').first().waitFor();
      await judge(page, 'plan, shown');
      await page.getByRole('button', { name: 'Change 1 file' }).click();
      await page.getByText('Applied', { exact: true }).waitFor();
      await judge(page, 'plan, applied');

      await page.goto(`${server.url}/changes`);
      await page.getByRole('button', { name: 'Undo…' }).first().click();
      await page.getByRole('dialog').getByRole('table').waitFor();
      await judge(page, 'undo');
      await page.keyboard.press('Escape');

      await page.goto(`${server.url}/w`);
      await page.getByRole('link', { name: 'left.txt' }).click();
      await waitFor('the text', async () => (await countCharacters(page)) === content.length);
      await page.getByLabel('Find text').fill('phone');
      await page.keyboard.press('Enter');
      await page.getByText(/^Line \d+$/u).waitFor();
      await judge(page, 'found in a file');
      await page.getByRole('button', { name: 'Discard…' }).click();
      await judge(page, 'discard');

      await page.goto(`${server.url}/c`);
      await page.locator('main a[data-row]').first().click();
      for (const each of await page.locator('details summary').all()) await each.click();
      await judge(page, 'conversation, opened rows');
    },
  );
});

// Hazard: a yes that nobody has given, or that was given to something else than what happens (B16, B18).
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import type { Page } from 'playwright-core';
import type { Behaviour, Script } from '@orion/llm-adapters/scripted';
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, sendMessage, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { beginCall, LAST_WORD, writeDocument } from '../support/scripts.ts';
import { serve, SERVER_TOKEN } from '../support/serve.ts';
import type { ServedProcess } from '../support/serve.ts';
import { test } from '../support/test.ts';
import { waitFor } from '../support/wait.ts';
import { passUntil, stopTime } from './support/page-time.ts';
import { fully, textOf } from './support/page-writes.ts';

async function ask(machine: Sandbox, script: Script, args: readonly string[] = []) {
  const provider = await machine.provider(script);
  const options = [...at(provider), '--approve', 'ask', ...args];
  return { options, server: await serve(machine, options) };
}

const pendingOf = async ({ ask: read }: Pick<ServedProcess, 'ask'>): Promise<number> => {
  const { json } = await read('/api/approvals?state=pending');
  return (json as { readonly approvals: readonly unknown[] }).approvals.length;
};

const card = (page: Page) => page.getByRole('region', { name: 'Approval' });

/** The button that says yes, once all is shown that it is about, and it takes a click. */
async function yesOf(page: Page) {
  const yes = card(page).getByRole('button', { name: /^Yes: /u, disabled: false });
  await yes.waitFor();
  await page.locator('.approval [inert]').waitFor({ state: 'detached' });
  return yes;
}

/** From here on the page does not learn how its approvals are. */
async function holdReads(page: Page): Promise<{ readonly release: () => Promise<void> }> {
  const path = '**/api/approvals/*';
  let isHeld: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (isHeld = resolve));
  await page.route(path, async (route) => {
    if (route.request().method() !== 'GET') return route.continue();
    await route.abort();
    isHeld();
  });
  // The one before it has its answer, since there are never two at once.
  await held;
  return { release: () => page.unroute(path) };
}

const run = (command: string): Behaviour => ({
  name: 'run',
  when: { toolResults: 0 },
  reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
});

describe.skipIf(missingBrowser !== null)('approvals on the page', () => {
  const browser = useBrowser();

  test('no key that is pressed meanwhile decides, and a yes does what was shown', async ({
    machine,
  }) => {
    await machine.write('a.txt', 'old\n');
    const script = { target: 'a.txt', content: 'one\ntwo\n' };
    const { server } = await ask(machine, writeDocument(script, { operation: 'overwrite' }));
    const { page } = await openPage(browser(), pageLink(server));
    await sendMessage(page, 'Write it.');
    await page.getByLabel('Message', { exact: true }).focus();
    // It appears under the fingers of somebody who types.
    const appeared = card(page).getByRole('button', { name: /^Yes: /u });
    await waitFor('the approval', async () => {
      await page.keyboard.press('Enter');
      await page.keyboard.type('y a ');
      return (await appeared.count()) > 0;
    });
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    await page.keyboard.press('Escape');
    for (const key of ['Enter', ' ', 'y', 'Y', 'a', '.', 'Enter', ' ', 'y'])
      await page.keyboard.press(key);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H2');
    expect([await pendingOf(server), String(await machine.read('a.txt'))]).toEqual([1, 'old\n']);
    await page.getByRole('alert').getByText('1 approval needs you').waitFor({ state: 'attached' });
    await page.getByText('1 pending approval').waitFor();
    // Nothing goes on by itself.
    const write = page.locator('[aria-label=Write] .state');
    expect(await write.textContent()).toBe('waiting for your yes');
    expect(await write.getAttribute('data-live')).toBe('false');

    const yes = await yesOf(page);
    expect(await card(page).getByRole('cell').allTextContents()).toEqual(['old', 'one', 'two']);
    await card(page).getByText(machine.path('a.txt')).first().waitFor();
    // By keys alone: from the heading to the button.
    await page.keyboard.press('Tab');
    expect(await yes.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await card(page).getByText('Approved.').waitFor();
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    expect(String(await machine.read('a.txt'))).toBe('one\ntwo\n');
  });

  fully(
    'what was changed after it was shown is asked anew, and nothing is overwritten',
    async ({ machine }) => {
      await machine.write('a.txt', 'old\n');
      const script = { target: 'a.txt', content: 'new\n' };
      const { server } = await ask(machine, writeDocument(script, { operation: 'overwrite' }));
      const { page } = await openPage(browser(), pageLink(server));
      await sendMessage(page, 'Write it.');
      const yes = await yesOf(page);
      const reads = await holdReads(page);
      await machine.write('a.txt', 'of somebody else\n');
      await yes.click();
      await card(page).getByText('APPROVAL_STALE').waitFor();
      await reads.release();
      await page.getByText(/^It was withdrawn/u).waitFor();
      await card(page).getByRole('cell', { name: 'of somebody else' }).waitFor();
      expect(String(await machine.read('a.txt'))).toBe('of somebody else\n');
      await (await yesOf(page)).click();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(String(await machine.read('a.txt'))).toBe('new\n');
    },
  );

  fully(
    'a click that was meant for what was there before takes nothing for half a second',
    async ({ machine }) => {
      const { server } = await ask(machine, writeDocument({ target: 'a.txt', content: 'new\n' }));
      const { page } = await openPage(browser(), pageLink(server), { hasFakeClock: true });
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await stopTime(page);
      await sendMessage(page, 'Write it.');
      const inert = page.locator('.approval [inert]');
      const yes = page.locator('.approval button:enabled', { hasText: /^Yes: / });
      await passUntil(page, 'the approval', async () => (await yes.count()) > 0);
      const click = async (): Promise<void> => {
        await yes.scrollIntoViewIfNeeded();
        const { x = 0, y = 0, width = 0, height = 0 } = (await yes.boundingBox()) ?? {};
        await page.mouse.click(x + width / 2, y + height / 2);
      };
      await page.evaluate(() => {
        const { fetch } = window;
        Object.assign(window, { decisions: 0 });
        window.fetch = (path, init) => {
          if (init?.method === 'POST') (window as unknown as { decisions: number }).decisions += 1;
          return fetch(path, init);
        };
      });
      const decisions = (): Promise<number> =>
        page.evaluate(() => (window as unknown as { decisions: number }).decisions);
      await click();
      await page.clock.runFor(450);
      await click();
      expect([await inert.count(), await decisions()]).toEqual([1, 0]);
      await page.clock.runFor(200);
      await inert.waitFor({ state: 'detached' });
      await click();
      expect(await decisions()).toBe(1);
      await waitFor('the yes', async () => (await pendingOf(server)) === 0);
    },
  );

  fully(
    'outlives a kill of the server; another tab decides, with a reason',
    async ({ machine }) => {
      const script = { target: 'a.txt', content: 'new\n' };
      const { server, options } = await ask(machine, writeDocument(script));
      const { page, context } = await openPage(browser(), pageLink(server));
      await sendMessage(page, 'Write it.');
      await yesOf(page);
      server.running.kill('SIGKILL');
      await server.running.finished;
      await serve(machine, [...options, '--port', String(server.port)]);
      const other = await context.newPage();
      await other.goto(server.url);
      await other.getByRole('region', { name: 'Needs you' }).getByRole('link').click();
      await other.getByRole('heading', { level: 1, name: 'Approval' }).waitFor();
      await yesOf(other);
      await other.getByLabel('Reason for a no (the model reads it)').fill('Not in this folder.');
      await other.getByRole('button', { name: 'No', exact: true }).click();
      await other.getByText('Rejected.').waitFor();
      await card(page).getByText('Reason: Not in this folder..').waitFor();
      expect(await card(page).getByRole('button', { name: /^Yes/u }).count()).toBe(0);
      expect(await machine.exists('a.txt')).toBe(false);
    },
  );

  fully('whoever is second learns what stands', async ({ machine }) => {
    const { server } = await ask(machine, { behaviours: [run('touch made'), LAST_WORD] }, [
      '--approve-commands',
      'ask',
      '--sandbox',
      'off',
    ]);
    const { page } = await openPage(browser(), pageLink(server));
    await sendMessage(page, 'Run it.');
    const yes = await yesOf(page);
    // The page does not know of the other decision yet.
    const reads = await holdReads(page);
    const { json } = await server.ask('/api/approvals?state=pending');
    const [found] = (json as { approvals: { approvalId: string; hash: string }[] }).approvals;
    const no = { decision: 'no', hash: found?.hash };
    await server.ask(`/api/approvals/${found?.approvalId}`, { json: no });
    await yes.click();
    await reads.release();
    await card(page).getByText('It had been decided before your answer arrived.').waitFor();
    await card(page).getByText('Rejected.').waitFor();
    expect(await machine.exists('made')).toBe(false);
  });

  fully('what is too long to be shown whole takes no yes on the page', async ({ machine }) => {
    // Of a line, 64 KiB are sent.
    const content = `${'x'.repeat(100_000)}touch made\n`;
    const shape = { chunk: 20_000 };
    const { server } = await ask(machine, writeDocument({ target: 'a.txt', content }, { shape }));
    const { page } = await openPage(browser(), pageLink(server));
    await sendMessage(page, 'Write it.');
    const notWhole = card(page).getByRole('region', { name: 'Not shown whole' });
    await notWhole.getByText(/This page takes no yes to what it has not shown/u).waitFor();
    await page.locator('.approval [inert]').waitFor({ state: 'detached' });
    for (const name of [/^Yes: /u, /^Yes, and/u])
      expect(await card(page).getByRole('button', { name }).isDisabled()).toBe(true);
    expect(await card(page).getByRole('button', { name: 'No', exact: true }).isEnabled()).toBe(
      true,
    );
    const command = await notWhole.locator('pre.command').innerText();

    await notWhole.getByRole('link', { name: 'The whole new text' }).click();
    await waitFor('the whole text', async () => (await textOf(page)).length === content.length);
    expect(
      await card(page)
        .getByRole('button', { name: /^Yes: /u })
        .isDisabled(),
    ).toBe(true);
    expect(await machine.exists('a.txt')).toBe(false);
    const env = { ...process.env, ORION_SERVER_TOKEN: SERVER_TOKEN };
    await promisify(execFile)('sh', ['-c', command], { env });
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    expect(String(await machine.read('a.txt'))).toBe(content);
  });

  fully('10 kB of blanks and hidden characters do not hide what would run', async ({ machine }) => {
    const command = `echo ok${' '.repeat(10_240)}; touch made${'\n'.repeat(200)}touch \u202eedam\u{e0041}`;
    const { server } = await ask(machine, { behaviours: [run(command), LAST_WORD] }, [
      '--approve-commands',
      'ask',
      '--sandbox',
      'off',
    ]);
    const { page } = await openPage(browser(), pageLink(server));
    await page.setViewportSize({ width: 900, height: 700 });
    await sendMessage(page, 'Run it.');
    await yesOf(page);
    const shown = card(page).locator('pre').first();
    expect(await shown.textContent()).toBe(
      String.raw`echo ok[10,240 blanks]; touch made[199 empty lines]touch \u{202e}edam\u{e0041}`,
    );
    await card(page).getByText('It contains 2 invisible characters').waitFor();
    const { height = 0 } = (await shown.boundingBox()) ?? {};
    expect(height).toBeLessThan(300);
    expect(await shown.evaluate((pre) => pre.scrollHeight - pre.clientHeight)).toBeLessThan(3);
    await card(page).getByRole('button', { name: 'No', exact: true }).click();
    await card(page).getByText('Rejected.').waitFor();
    expect(await machine.exists('made')).toBe(false);
  });

  fully(
    'Trojan Source in a name and in a text is escapes, and padding of lines is counted',
    async ({ machine }) => {
      const name = 'a\u202etxt.\u200bjs';
      const trojan = 'if (access != "user\u202e \u2066// Check if admin\u2069 \u2066") {';
      await writeFile(machine.path(name), `${'\n'.repeat(600)}end\n`);
      const { server } = await ask(machine, {
        behaviours: [
          {
            name: 'text',
            when: { toolChoice: 'none' },
            reply: { text: `${trojan}\n${'\n'.repeat(500)}payload\u{e0070}\nDONE\n` },
          },
          beginCall({ target_file: name, operation: 'overwrite' }),
          LAST_WORD,
        ],
      });
      const { page } = await openPage(browser(), pageLink(server));
      await sendMessage(page, 'Write it.');
      await yesOf(page);
      await card(page)
        .getByText(String.raw`a\u{202e}txt.\u{200b}js`)
        .first()
        .waitFor();
      const cells = await card(page).getByRole('cell').allTextContents();
      expect(cells).toContain(
        String.raw`if (access != "user\u{202e} \u{2066}// Check if admin\u{2069} \u{2066}") {`,
      );
      expect(cells).toContain(String.raw`payload\u{e0070}`);
      expect(cells.length).toBeLessThan(20);
      await card(page)
        .getByText(/invisible characters/u)
        .first()
        .waitFor();
      await (await yesOf(page)).click();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      const written = await waitFor('the file', () => machine.find(name));
      expect(String(written)).toContain(trojan);
    },
  );
});

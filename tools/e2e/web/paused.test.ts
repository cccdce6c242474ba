// Hazard: a write that waits does not say why, offers what cannot succeed, or writes over a file that was changed.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { sha256, writeDocument, writeMessages } from '../support/scripts.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { serve } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { waitFor } from '../support/wait.ts';
import { fully, LONG_TEXT } from './support/page-writes.ts';
import { goByKeys } from './support/go-by-keys.ts';

/** A session that a model left with this text and no end. */
async function leave(machine: Sandbox, target: string, text: string): Promise<string> {
  const provider = await machine.provider(writeMessages(target, [text]));
  const ended = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_IDLE_MS: '0' } });
  expect(ended.exitCode, ended.stderr).toBe(3);
  return ended.result().paused[0]?.session_dir ?? '';
}

/** The buttons of the view, without those that are everywhere. */
const offers = async (page: Page): Promise<readonly string[]> =>
  page.getByRole('region', { name: 'What can be done' }).getByRole('button').allTextContents();

async function lookAt(page: Page, target: string, words: string | RegExp): Promise<void> {
  await goByKeys(page, 'w', 'Writes');
  await page.getByRole('link', { name: target }).click();
  await page.getByRole('heading', { level: 1, name: target }).waitFor();
  await page.getByText(words).first().waitFor();
}

describe.skipIf(missingBrowser !== null)('a write that waits, on the page', () => {
  const browser = useBrowser();

  fully(
    'a file that was changed meanwhile is kept, unless it is said to be overwritten',
    async ({ machine }) => {
      const server = await serve(machine);
      for (const name of ['keep.txt', 'replace.txt', 'new.txt']) {
        const operation = name === 'new.txt' ? 'create' : 'overwrite';
        if (operation === 'overwrite') await machine.write(name, 'before\n');
        const id = await upload(server, name, 'saved\n', operation);
        await machine.write(name, 'edited by somebody\n');
        const refused = await server.ask(`/api/write-sessions/${id}/finalize`, { json: {} });
        expect(refused.status).toBe(409);
      }
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      const dialog = page.getByRole('dialog');

      await lookAt(page, 'keep.txt', /changed by something else after the write began/u);
      expect(await offers(page)).toEqual(['Write keep.txt…', 'Copy out', 'Discard…']);
      await page.getByRole('button', { name: 'Write keep.txt…' }).click();
      await dialog.getByRole('cell', { name: 'edited by somebody' }).waitFor();
      expect(await dialog.getByRole('radio', { name: /^Keep both/u }).isChecked()).toBe(true);
      await dialog.getByRole('button', { name: 'Write beside keep.txt' }).click();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(String(await machine.read('keep.txt'))).toBe('edited by somebody\n');
      const beside = page.getByRole('region', { name: 'Receipt' }).locator('bdi').first();
      expect(String(await machine.read((await beside.textContent()) ?? ''))).toBe('saved\n');

      await lookAt(page, 'replace.txt', /changed by something else/u);
      await page.getByRole('button', { name: 'Write replace.txt…' }).click();
      await dialog.getByRole('radio', { name: /^Overwrite/u }).check();
      await dialog.getByRole('button', { name: 'Overwrite replace.txt' }).click();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(String(await machine.read('replace.txt'))).toBe('saved\n');
      await page.getByRole('button', { name: 'Undo…' }).click();
      await dialog.getByRole('button', { name: 'Undo replace.txt' }).click();
      await dialog.waitFor({ state: 'hidden' });
      expect(String(await machine.read('replace.txt'))).toBe('edited by somebody\n');

      await lookAt(page, 'new.txt', /Something else made a file of this name/u);
      await page.getByRole('button', { name: 'Discard…' }).click();
      await dialog.getByRole('button', { name: 'Discard 6 B' }).click();
      await dialog.waitFor({ state: 'hidden' });
      expect(String(await machine.read('new.txt'))).toBe('edited by somebody\n');
      await goByKeys(page, 'w', 'Writes');
      await page.getByText('Every write is finished').waitFor();
    },
  );

  fully(
    'an open question is asked, and its answer decides what the file has',
    async ({ machine }) => {
      await leave(machine, 'steps.txt', 'one\nDONE\nnot of the file\n');
      const server = await serve(machine);
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await lookAt(page, 'steps.txt', /stopped without saying that the file is complete/u);
      await page.getByText(/^orion recover-session /u).waitFor();
      await page.getByRole('button', { name: 'Write steps.txt…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Write steps.txt' }).click();
      await dialog.getByRole('group', { name: 'A question about the text is open' }).waitFor();
      expect(await machine.exists('steps.txt')).toBe(false);
      await dialog.getByRole('radio', { name: 'The file ends before line 2' }).check();
      await dialog.getByRole('button', { name: 'Write steps.txt' }).click();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(String(await machine.read('steps.txt'))).toBe('one\n');
    },
  );

  fully(
    'what is damaged or foreign can be copied out and discarded, and nothing else',
    async ({ machine }) => {
      const foreign = join(await leave(machine, 'foreign.txt', 'one\n'), 'metadata.json');
      await writeFile(foreign, (await readFile(foreign, 'utf8')).replaceAll('foreign', 'strange'));
      const damaged = await leave(machine, 'damaged.txt', 'two\n');
      await writeFile(join(damaged, 'metadata.json'), '{');
      const server = await serve(machine);
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      for (const [name, words, text] of [
        [/strange\.txt/u, /It came with the folder, or another user began it/u, 'one\n'],
        [/^[-\da-f]{36}$/u, /Its files on the disk are not what Orion left there/u, 'two\n'],
      ] as const) {
        await goByKeys(page, 'w', 'Writes');
        await page.getByRole('main').getByRole('link', { name }).click();
        await page.getByText(words).waitFor();
        expect(await offers(page)).toEqual(['Copy out', 'Discard…']);
        const download = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Copy out' }).click();
        expect(await readFile(await (await download).path(), 'utf8')).toBe(text);
        await page.getByRole('button', { name: 'Discard…' }).click();
        await page
          .getByRole('dialog')
          .getByRole('button', { name: /^Discard/u })
          .click();
        await page.getByRole('dialog').waitFor({ state: 'hidden' });
      }
      expect(await machine.exists('strange.txt')).toBe(false);
    },
  );

  fully('what another process writes can be watched, and not touched', async ({ machine }) => {
    const provider = await machine.provider(
      writeDocument(
        { target: 'live.txt', content: LONG_TEXT },
        { shape: { chunk: 200, eventsPerSecond: 15 } },
      ),
    );
    const running = machine.startAsking(provider);
    await machine.savedSession(1000);
    const server = await serve(machine);
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await lookAt(page, 'live.txt', 'Another process writes it');
    expect(await offers(page)).toEqual(['Copy out']);
    const text = page.locator('[data-live-text]');
    await text.first().waitFor();
    const before = (await text.allTextContents()).join('').length;
    await waitFor('further text', async () =>
      (await text.allTextContents()).join('').length > before + 1000 ? true : null,
    );
    provider.hurry();
    expect((await running.finished).exitCode).toBe(0);
    expect(String(await machine.read('live.txt'))).toBe(LONG_TEXT);
    const written = page.getByRole('region', { name: 'Written' });
    await written.getByText(sha256(LONG_TEXT)).waitFor();
    await written.getByRole('button', { name: 'Diff' }).click();
    await written.getByRole('cell', { name: /takes minutes, number 1$/u }).waitFor();
  });
});

// Hazard: text that the disk had lost stays on the page, or is cut off within a character.
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';
import { fully, startWriting, textOf } from './support/page-writes.ts';

/** Behind its number, a line has characters of four bytes alone. */
const CONTENT = numbered('', 1, 6000).replaceAll('\n', `${'\u{1f30a}'.repeat(25)}\n`);
/** On the border of two of them. */
const KEPT = Buffer.byteLength(CONTENT.split('\n', 100).join('\n')) - 40;

/** The same up to a byte, and other characters behind it: what was taken back does not come again. */
function changedBehind(byte: number): string {
  const kept = Buffer.from(CONTENT).subarray(0, byte).toString();
  return kept + CONTENT.slice(kept.length).replaceAll('\u{1f30a}', '\u{1f30b}');
}

describe.skipIf(missingBrowser !== null)('text that is taken back', () => {
  const browser = useBrowser();

  fully.for([
    ['within a character', 2, 0],
    ['behind a character', 4, 4],
  ] as const)(
    'leaves the page where the disk ends %s, and no half character',
    async ([, cutAfter, keptAfter], { machine }) => {
      // Nothing is synced, so that a power cut could take all of it.
      const env = { WRITE_SESSION_SAVE_MS: '600000', WRITE_SESSION_SAVE_LINES: '1000000' };
      const args = ['--approve', 'ask'];
      const { page, server } = await startWriting(machine, browser(), {
        content: CONTENT,
        args,
        env,
      });
      await waitFor('some text', async () => (await textOf(page)).length > 12_000);
      server.running.kill('SIGKILL');
      await server.running.finished;
      const [session] = await machine.sessions();
      await truncate(join(session?.directory ?? '', 'content.txt'), KEPT + cutAfter);
      const content = changedBehind(KEPT + keptAfter);
      const provider = await machine.provider(writeDocument({ target: 'docs/long.md', content }));
      await serve(machine, [...at(provider), ...args, '--port', String(server.port)], { env });
      await page.getByText(`set aside after byte ${KEPT + keptAfter}:`).waitFor();
      await page.getByRole('button', { name: /^Yes: / }).waitFor();
      await waitFor('all of the text', async () => (await textOf(page)).length >= content.length);
      expect(await textOf(page)).toBe(content);
      await page.getByRole('button', { name: /^Yes: / }).click();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(String(await machine.read('docs/long.md'))).toBe(content);
    },
  );
});

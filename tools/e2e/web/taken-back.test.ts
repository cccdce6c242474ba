// Hazard: text that the disk had lost stays on the page, or is cut off within a character.
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { missingBrowser, useBrowser } from '../support/browser.ts';
import { numbered } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';
import { fully, startWriting, textOf } from './support/page-writes.ts';

/** Behind its number, a line has characters of four bytes alone. */
const CONTENT = numbered('', 1, 6000).replaceAll('\n', `${'\u{1f30a}'.repeat(25)}\n`);
/** On the border of two of them. */
const KEPT = Buffer.byteLength(CONTENT.split('\n', 100).join('\n')) - 40;

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
      const { page, server, args, provider } = await startWriting(machine, browser(), {
        content: CONTENT,
        args: ['--approve', 'ask'],
        env,
      });
      await waitFor('some text', async () => (await textOf(page)).length > 12_000);
      server.running.kill('SIGKILL');
      await server.running.finished;
      const [session] = await machine.sessions();
      await truncate(join(session?.directory ?? '', 'content.txt'), KEPT + cutAfter);
      await serve(machine, [...args, '--port', String(server.port)], { env });
      provider.hurry();
      await page.getByText(`set aside after byte ${KEPT + keptAfter}:`).waitFor();
      await page.getByRole('button', { name: /^Yes: / }).waitFor();
      await waitFor('all of the text', async () => (await textOf(page)).length >= CONTENT.length);
      expect(await textOf(page)).toBe(CONTENT);
      await page.getByRole('button', { name: /^Yes: / }).click();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(String(await machine.read('docs/long.md'))).toBe(CONTENT);
    },
  );
});

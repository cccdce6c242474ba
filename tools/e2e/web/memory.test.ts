// Hazard: a tab that is open for a day keeps every file that it has ever shown, or a stream for each.
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { heldByPage } from '../support/held-memory.ts';
import { at } from '../support/sandbox.ts';
import { numbered, writeMessages } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';
import { beginWriting, countCharacters, fully, openStreams } from './support/page-writes.ts';

const TURNS = 10;
/** Five megabytes. */
const CONTENT = numbered('a line of a file that somebody watches, number', 1, 94_000, 6);

describe.skipIf(missingBrowser !== null)('a page that is open for long', () => {
  const browser = useBrowser();

  fully(
    `holds after ${TURNS} files of 5 MB what it held after the first, and no stream`,
    { timeout: 240_000 },
    async ({ machine }) => {
      // Its text stays, as its end was not said.
      const provider = await machine.provider(
        writeMessages('docs/long.md', [CONTENT], { shape: { chunk: 32_000 } }),
      );
      const env = { WRITE_SESSION_IDLE_MS: '0' };
      const server = await serve(machine, at(provider), { env });
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      let first = { bytes: 0, nodes: 0 };
      for (let turn = 1; turn <= TURNS; turn += 1) {
        await beginWriting(page);
        const discard = page.getByRole('button', { name: 'Discard…' });
        await discard.waitFor();
        await waitFor('the text', async () => (await countCharacters(page)) === CONTENT.length);
        await discard.click();
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: /^Discard / }).click();
        await dialog.waitFor({ state: 'detached' });
        await page.getByRole('navigation').getByRole('link', { name: 'Now' }).click();
        await page.getByText('Nothing is running').waitFor();
        if (turn === 1) first = await heldByPage(page);
      }
      const last = await heldByPage(page);
      expect(last.bytes).toBeLessThan(first.bytes * 1.1);
      expect(last.nodes).toBeLessThan(first.nodes * 1.1);
      await waitFor('the end of the streams', async () => (await openStreams(server)) === 0);
      expectClean(watched, server.url);
    },
  );
});

// Hazard: a file so large, or a line so long, that the page stands still, loses its place, or shows something else.
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { numbered } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import type { ServedProcess } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';
import { nextFrame } from './support/page-time.ts';
import { firstLine, fully } from './support/page-writes.ts';

const PART = 4 * 1024 * 1024;

/** A session that is open, with this text; the bytes go in parts, as a body has a limit. */
async function uploadParts(server: ServedProcess, text: string): Promise<string> {
  const json = { intent: 'test', target_file: 'large.txt', operation: 'create' };
  const { json: begun } = await server.ask('/api/write-sessions', { json });
  const { session_id: id } = begun as { session_id: string };
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length; offset += PART) {
    const { status, text: said } = await server.ask(
      `/api/write-sessions/${id}/content?offset=${offset}`,
      {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes.subarray(offset, offset + PART),
      },
    );
    expect([status, said]).toEqual([200, said]);
  }
  return id;
}

describe.skipIf(missingBrowser !== null)('a large file on the page', () => {
  const browser = useBrowser();

  fully(
    '100,000 lines: a jump, a search, an exact copy, and the place is kept over reload and resize',
    async ({ machine }) => {
      const content = numbered('line', 1, 100_000);
      const server = await serve(machine);
      const id = await uploadParts(server, content);
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await page.goto(`${server.url}/w/${id}`);
      const characters = (): Promise<number> =>
        page.evaluate(() =>
          Array.from(document.querySelectorAll('[data-live-text]')).reduce(
            (sum, block) => sum + block.textContent.length,
            0,
          ),
        );
      await waitFor('the text', async () => (await characters()) === content.length);

      await page.getByLabel('Find text').fill(':50000');
      await page.keyboard.press('Enter');
      await page.getByText('Line 50,000', { exact: true }).waitFor();
      await page.getByLabel('Find text').fill('line 77777');
      await page.keyboard.press('Enter');
      await page.getByText('Line 77,777', { exact: true }).waitFor();
      await nextFrame(page);
      const before = await firstLine(page);
      expect(before).toMatch(/^line 777\d\d$/u);

      const copied = await page.evaluate(() => {
        const blocks = document.querySelectorAll('[data-live-text]');
        const range = new Range();
        range.setStartBefore(blocks[300] as Element);
        range.setEndAfter(blocks[301] as Element);
        getSelection()?.removeAllRanges();
        getSelection()?.addRange(range);
        return getSelection()?.toString() ?? '';
      });
      expect(copied.trimEnd()).toBe(numbered('line', 75_001, 75_500).trimEnd());

      await page.setViewportSize({ width: 700, height: 500 });
      await nextFrame(page);
      expect(await firstLine(page)).toBe(before);
      await page.reload();
      await waitFor('the place', async () => (await firstLine(page)) === before);
      await waitFor('the text', async () => (await characters()) === content.length);
      expect(await firstLine(page)).toBe(before);
      expectClean(watched, server.url);
    },
  );

  fully(
    '64 MiB in a million lines, the first of them of 1 MB: the end is reached, and keys are answered',
    { timeout: 300_000 },
    async ({ machine }) => {
      const lines = 1_000_000;
      const long = 'x'.repeat(1_000_000);
      const words = numbered('a line of a large file with some more words in it', 1, lines - 1, 7);
      const content = `${long}\n${words}`;
      const server = await serve(machine);
      const id = await uploadParts(server, content);
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await page.goto(`${server.url}/w/${id}`);
      // Asked for within few elements: a search for text would read all of it.
      const earlier = page.locator('p.faint', { hasText: 'earlier line' });
      await waitFor(
        'the end of the text',
        async () => {
          if ((await earlier.count()) === 0) return false;
          return (await earlier.textContent())?.startsWith('500,000 earlier lines') === true;
        },
        240_000,
      );
      const last = page.locator('[data-live-text]').last();
      expect((await last.textContent())?.endsWith(words.slice(-100))).toBe(true);
      const blocks = await page.locator('[data-live-text]').count();
      expect(blocks).toBeLessThanOrEqual(2000);
      // A page that stands still does not come to the end of this.
      const isAtTop = await page.evaluate(async () => {
        const scroller = document.querySelector('[aria-label="Text of the file"]');
        if (scroller === null) return false;
        for (let step = 20; step >= 0; step -= 1) {
          scroller.scrollTop = (scroller.scrollHeight / 20) * step;
          await new Promise(requestAnimationFrame);
        }
        return scroller.scrollTop === 0;
      });
      expect(isAtTop).toBe(true);
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      expectClean(watched, server.url);
    },
  );
});

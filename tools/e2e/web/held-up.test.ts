// Hazard: the disk takes no more text, and the page goes on as if all of it were safe, or says it again and again.
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { tightDisks } from '../support/small-disk.ts';
import { waitFor } from '../support/wait.ts';
import { findingsInAll } from './support/axe.ts';
import { beginWriting, fully, textOf, watermarks } from './support/page-writes.ts';

const HAS_NONE = tightDisks.length === 0;
const SKIPPED = HAS_NONE ? ' (SKIPPED: neither a namespace nor a limit can be had here)' : '';
/** More than comes before the test is over. */
const CONTENT = numbered(`a line ${'of the document '.repeat(60)}with number`, 1, 10_000);

/** Keeps what the assertive region says from now on. */
async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(() => {
    const said: string[] = [];
    Object.assign(window, { urgent: said });
    const region = document.querySelector('[aria-live=assertive]');
    if (region === null) throw new Error('there is no such region');
    new MutationObserver(() => said.push(region.textContent)).observe(region, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
  return () => page.evaluate(() => (window as unknown as { urgent: string[] }).urgent);
}

describe.skipIf(missingBrowser !== null || HAS_NONE)(`a full disk on the page${SKIPPED}`, () => {
  const browser = useBrowser();

  fully.for(tightDisks)(
    'is said while it lasts, once aloud, with how much only memory has; and it is over when there is room ($name)',
    async ({ bytes, startedBy, refusal, makeRoom }, { machine }) => {
      const folder = machine.path('.orion', 'logs', 'write_sessions');
      const script = { target: 'docs/long.md', content: CONTENT };
      // Full after few pieces, however much there is room for: what the store keeps of each is in files as well.
      const shape = { chunk: Math.ceil(bytes / 24), eventsPerSecond: 6 };
      const provider = await machine.provider(writeDocument(script, { shape }));
      // As often as this, a disk that has refused text is asked again.
      const env = { WRITE_SESSION_SAVE_MS: '200' };
      const server = await serve(machine, at(provider), { env, by: startedBy(folder) });
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      const urgent = await listen(page);
      await beginWriting(page);
      const heldUp = page.getByRole('region', { name: 'Saving is held up' });
      await heldUp.waitFor();
      const said = (await heldUp.textContent()) ?? '';
      expect(said).toMatch(
        /^Saving is held up\. [1-9][\d,]* B are in memory only: do not close Orion\./u,
      );
      expect(said).toMatch(refusal);
      await page.getByText('receiving, saving is held up').waitFor();
      const held = await watermarks(page);
      expect(held.saved).toBeLessThan(held.received);
      expect(held.saved).toBeLessThanOrEqual(bytes);
      expect(held.synced).toBeLessThanOrEqual(held.saved);
      expect(await findingsInAll(page)).toEqual([]);
      expect(await heldUp.count()).toBe(1);

      makeRoom(folder, server.running.pid);
      await heldUp.waitFor({ state: 'detached' });
      // It stays over while more is saved, also between two syncs.
      await waitFor('more', async () => (await watermarks(page)).saved > bytes * 1.5);
      expect(await heldUp.count()).toBe(0);
      expect(await urgent()).toEqual(['Saving docs/long.md is held up']);
      expect(CONTENT.startsWith(await textOf(page))).toBe(true);
      expectClean(watched, server.url);
    },
  );
});

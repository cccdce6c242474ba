// Hazard: the disk takes no more text, and the page goes on as if all of it were safe, or says it again and again.
import { execFileSync } from 'node:child_process';

import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { at } from '../support/sandbox.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { CAN_MOUNT, withDisk } from '../support/small-disk.ts';
import { findingsInAll } from './support/axe.ts';
import { beginWriting, fully, textOf, watermarks } from './support/page-writes.ts';

const SKIPPED = CAN_MOUNT ? '' : ' (SKIPPED: a small tmpfs cannot be mounted here)';
/** More than comes before the test is over. */
const CONTENT = numbered('a line of the document with number', 1, 100_000);

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

describe.skipIf(missingBrowser !== null || !CAN_MOUNT)(`a full disk on the page${SKIPPED}`, () => {
  const browser = useBrowser();

  fully(
    'is said while it lasts, once aloud, with how much only memory has; and it is over when there is room',
    async ({ machine }) => {
      const folder = machine.path('.orion', 'logs', 'write_sessions');
      await withDisk(folder, 'size=64k', async () => {
        const script = { target: 'docs/long.md', content: CONTENT };
        const shape = { chunk: 500, eventsPerSecond: 40 };
        const provider = await machine.provider(writeDocument(script, { shape }));
        // As often as this, a disk that has refused text is asked again.
        const env = { WRITE_SESSION_SAVE_MS: '200' };
        const server = await serve(machine, at(provider), { env });
        const watched = await openPage(browser(), pageLink(server));
        const { page } = watched;
        await page.getByRole('heading', { name: 'Now' }).waitFor();
        const urgent = await listen(page);
        await beginWriting(page);
        const heldUp = page.getByRole('region', { name: 'Saving is held up' });
        await heldUp.waitFor();
        const said = (await heldUp.textContent()) ?? '';
        expect(said).toMatch(
          /^Saving is held up\. [1-9][\d,]* B are in memory only: do not close Orion\.[^.]*DISK_FULL/u,
        );
        await page.getByText('receiving, saving is held up').waitFor();
        const held = await watermarks(page);
        expect(held.saved).toBeLessThan(Math.min(held.received, 64 * 1024));
        expect(held.synced).toBeLessThanOrEqual(held.saved);
        expect(await findingsInAll(page)).toEqual([]);
        expect(await heldUp.count()).toBe(1);

        execFileSync('mount', ['-o', 'remount,size=64m', folder], { stdio: 'ignore' });
        await heldUp.waitFor({ state: 'detached' });
        expect((await watermarks(page)).saved).toBeGreaterThan(64 * 1024);
        expect(await urgent()).toEqual(['Saving docs/long.md is held up']);
        expect(CONTENT.startsWith(await textOf(page))).toBe(true);
        expectClean(watched, server.url);
      });
    },
  );
});

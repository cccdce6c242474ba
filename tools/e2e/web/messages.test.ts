// Errors and changes of state on the page: each has its place, a toast leads there, and a screen reader is not flooded.
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, sendMessage, useBrowser } from '../support/browser.ts';
import { numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';
import { fully } from './support/page-writes.ts';

describe.skipIf(missingBrowser !== null)('messages of the page', () => {
  const browser = useBrowser();

  fully(
    'an error of a turn has its row, and a toast that leads to it and goes by itself',
    async ({ machine }) => {
      const provider = await machine.provider({
        behaviours: [
          { name: 'refuses', faults: [{ kind: 'status', status: 400 }], reply: { text: '' } },
        ],
      });
      const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await page.clock.install();
      await sendMessage(page, 'Hello');
      const toast = page.getByRole('region', { name: 'Notices' }).getByRole('article');
      const row = page.getByRole('region', { name: 'Error' });
      await toast.waitFor();
      for (const place of [toast, row])
        expect(await place.textContent()).toContain('PROVIDER_REQUEST: The provider refused');
      await toast.getByRole('button', { name: 'Show' }).click();
      await toast.waitFor({ state: 'hidden' });
      expect(await row.evaluate((element) => element === document.activeElement)).toBe(true);
      // Another one: nobody touches it.
      await page.getByLabel('Message').fill('Again');
      await page.getByRole('button', { name: 'Send' }).click();
      await toast.waitFor();
      await page.clock.runFor(7000);
      expect(await toast.count()).toBe(1);
      await page.clock.runFor(1500);
      await toast.waitFor({ state: 'hidden' });
      expect(await row.count()).toBe(2);
    },
  );

  fully(
    'changes of a write are said together and rarely, and nothing interrupts',
    async ({ machine }) => {
      const provider = await machine.provider(
        writeDocument(
          { target: 'a.md', content: numbered('line', 1, 300) },
          { shape: { eventsPerSecond: 60 } },
        ),
      );
      const server = await serve(machine, ['--base-url', provider.url, '--model', 'scripted']);
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await page.clock.install();
      await page.evaluate(() => {
        const said: string[] = [];
        Object.assign(window, { said });
        for (const region of document.querySelectorAll('[aria-live]:not([aria-live=off])'))
          new MutationObserver(() =>
            said.push(`${region.ariaLive}: ${region.textContent}`),
          ).observe(region, { childList: true, subtree: true, characterData: true });
      });
      const said = (): Promise<readonly string[]> =>
        page.evaluate(() => (window as unknown as { said: string[] }).said);
      await sendMessage(page, 'Write it.');
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      const first = await said();
      expect(first.length).toBeLessThanOrEqual(1);
      await waitFor('the end of the write', async () => {
        await page.clock.runFor(10_000);
        return (await said()).some((text) => text.includes('a.md: written')) ? true : null;
      });
      const all = await said();
      expect(all.length).toBeLessThanOrEqual(3);
      expect(all.filter((text) => !text.startsWith('polite: '))).toEqual([]);
    },
  );
});

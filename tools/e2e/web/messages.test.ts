// Errors and changes of state on the page: each has its place, a toast leads there, and a screen reader is not flooded.
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, sendMessage, useBrowser } from '../support/browser.ts';
import { LAST_WORD, numbered, writeDocument } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { passUntil, stopTime } from './support/page-time.ts';
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
      const { page } = await openPage(browser(), pageLink(server), { hasFakeClock: true });
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await stopTime(page);
      await sendMessage(page, 'Hello');
      const toast = page.getByRole('region', { name: 'Notices' }).getByRole('article');
      const row = page.getByRole('region', { name: 'Error' });
      await passUntil(page, 'the toast', () => toast.isVisible());
      for (const place of [toast, row])
        expect(await place.textContent()).toContain('PROVIDER_REQUEST: The provider refused');
      await toast.getByRole('button', { name: 'Show' }).click();
      await toast.waitFor({ state: 'hidden' });
      expect(await row.evaluate((element) => element === document.activeElement)).toBe(true);
      // Another one: nobody touches it.
      await page.getByLabel('Message').fill('Again');
      const send = page.getByRole('button', { name: 'Send' });
      await passUntil(page, 'the end of the turn', async () => (await send.count()) > 0);
      await send.click();
      await passUntil(page, 'the second toast', () => toast.isVisible());
      await page.clock.runFor(7500);
      await page.clock.runFor(100);
      expect(await toast.count()).toBe(1);
      await page.clock.runFor(1000);
      await toast.waitFor({ state: 'hidden' });
      expect(await row.count()).toBe(2);
    },
  );

  fully('a result that was stored is read when its row is opened, whole', async ({ machine }) => {
    for (let file = 0; file < 30; file += 1) await machine.write(`entry-${file}.txt`, '');
    const provider = await machine.provider({
      behaviours: [
        {
          when: { toolResults: 0 },
          reply: { toolCalls: [{ name: 'list_files', arguments: { path: '.' } }] },
        },
        LAST_WORD,
      ],
    });
    const args = ['--base-url', provider.url, '--model', 'scripted'];
    const server = await serve(machine, args, { env: { ORION_OUTPUT_AUTO_CHARACTERS: '200' } });
    const { page } = await openPage(browser(), pageLink(server));
    await sendMessage(page, 'List them.');
    await page.getByText('list_files', { exact: true }).click();
    expect(await page.getByText(/entry-29\.txt/u).count()).toBe(0);
    await page.getByText('The whole result, as it is stored').click();
    await page.getByText(/entry-29\.txt/u).waitFor();
  });

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
      const { page } = await openPage(browser(), pageLink(server), { hasFakeClock: true });
      await page.getByRole('heading', { name: 'Now' }).waitFor();
      await page.evaluate(() => {
        const said: { text: string; at: number }[] = [];
        Object.assign(window, { said });
        for (const region of document.querySelectorAll('[aria-live]:not([aria-live=off])'))
          new MutationObserver(() =>
            said.push({ text: `${region.ariaLive}: ${region.textContent}`, at: Date.now() }),
          ).observe(region, { childList: true, subtree: true, characterData: true });
      });
      const said = (): Promise<readonly { text: string; at: number }[]> =>
        page.evaluate(() => (window as unknown as { said: { text: string; at: number }[] }).said);
      await stopTime(page);
      await sendMessage(page, 'Write it.');
      const isOver = async (): Promise<boolean> =>
        (await said()).some(({ text }) => text.includes('a.md: written'));
      await passUntil(page, 'the end of the write', isOver, { stepMs: 100 });
      const all = await said();
      expect(all.filter(({ text }) => !text.startsWith('polite: '))).toEqual([]);
      for (const [index, { at }] of all.entries())
        expect(at - (all[index - 1]?.at ?? 0)).toBeGreaterThan(9000);
    },
  );
});

// A write in the browser while it happens: the text, what is synced of it, and what survives a server that is killed.
import { isDeepStrictEqual } from 'node:util';

import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, useBrowser } from '../support/browser.ts';
import { startProxy } from './support/page-proxy.ts';
import {
  firstLine,
  fully,
  LONG_TEXT,
  startWriting,
  textOf,
  watermarks,
} from './support/page-writes.ts';
import type { Marks } from './support/page-writes.ts';
import { numbered, sha256 } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { waitFor } from '../support/wait.ts';

describe.skipIf(missingBrowser !== null)('a write in the browser', () => {
  const browser = useBrowser();

  fully(
    '20,000 lines: the document holds the bytes of the file, and of these never more are saved than received, or synced than saved',
    async ({ machine }) => {
      const content = numbered('line', 1, 20_000);
      // Its text is kept for as long as the change waits for a yes.
      const { page, server, watched } = await startWriting(machine, browser(), {
        content,
        eventsPerSecond: 100,
        args: ['--approve', 'ask'],
      });
      const yes = page.getByRole('button', { name: /^Yes: / });
      const seen: Marks[] = [];
      await waitFor('the approval', async () => {
        const now = await watermarks(page);
        if (Number.isFinite(now.received)) seen.push(now);
        return (await yes.count()) > 0;
      });
      for (const { received, saved, synced } of seen) {
        expect(saved).toBeLessThanOrEqual(received);
        expect(synced).toBeLessThanOrEqual(saved);
      }
      expect(new Set(seen.map(({ received }) => received)).size).toBeGreaterThan(2);
      await waitFor('all of the text', async () => (await textOf(page)).length === content.length);
      expect(sha256(await textOf(page))).toBe(sha256(content));
      const all = { received: content.length, saved: content.length, synced: content.length };
      await waitFor('the sync', async () => isDeepStrictEqual(await watermarks(page), all));
      // Each line has one mark beside it, drawn without a font: by now that of what is synced.
      const marked = await page.evaluate(() =>
        Array.from(document.querySelectorAll('[data-live-text]'), (block) => {
          // What is out of sight may have the height that it had when it was last drawn.
          block.parentElement?.style.setProperty('content-visibility', 'visible');
          return [
            block.clientHeight,
            block.previousElementSibling?.firstElementChild?.clientHeight,
          ];
        }).filter(([height, synced]) => height === 0 || height !== synced),
      );
      expect(marked).toEqual([]);
      await yes.click();
      await page.getByRole('region', { name: 'Receipt' }).getByText(sha256(content)).waitFor();
      expect(sha256(await machine.read('docs/long.md'))).toBe(sha256(content));
      expectClean(watched, server.url);
    },
  );

  fully(
    'a server that is killed in mid-write and started again: nothing twice, nothing missing, nobody logs in again',
    async ({ machine }) => {
      const { page, server, args, provider } = await startWriting(machine, browser());
      await waitFor('some text', async () => (await textOf(page)).length > 8000);
      const { saved } = await watermarks(page);
      server.running.kill('SIGKILL');
      await server.running.finished;
      await page.getByText(/No contact for/u).waitFor();
      const before = await textOf(page);
      await serve(machine, [...args, '--port', String(server.port)]);
      await page.getByText(/^recovered, receiving/u).waitFor();
      await waitFor('further text', async () => (await textOf(page)).length > before.length + 5000);
      provider.hurry();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      const text = await textOf(page);
      expect(String(await machine.read('docs/long.md'))).toBe(LONG_TEXT);
      expect(LONG_TEXT.startsWith(text)).toBe(true);
      // What the page called saved was not written again.
      const joined = await page
        .getByText(/^Joined at line \d+: /u)
        .first()
        .textContent();
      const [, line] = /line (\d+)/u.exec(joined ?? '') ?? [];
      const savedLines = LONG_TEXT.slice(0, saved).split('\n').length - 1;
      expect(savedLines).toBeGreaterThan(10);
      expect(Number(line)).toBeGreaterThan(savedLines);
      expect(page.url()).toContain('/w/');
    },
  );

  fully(
    'stops when it is asked to, and what is unfinished is written with one button',
    async ({ machine }) => {
      const { page } = await startWriting(machine, browser());
      await waitFor('some text', async () => (await textOf(page)).length > 8000);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: /^Write docs\/long.md/u }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('takes minutes, number 1', { exact: false }).first().waitFor();
      expect(await machine.exists('docs/long.md')).toBe(false);
      await dialog.getByRole('button', { name: 'Write docs/long.md' }).click();
      await waitFor('the file', () => machine.exists('docs/long.md'));
      expect(LONG_TEXT.startsWith(String(await machine.read('docs/long.md')))).toBe(true);
    },
  );

  fully(
    'line 100 stays in place over a reconnect, another theme and width while thousands arrive, and End follows again',
    async ({ machine }) => {
      const proxy = await startProxy();
      const { page } = await startWriting(machine, browser(), {
        content: numbered('line', 1, 300_000),
        eventsPerSecond: 60,
        proxy,
      });
      await waitFor('some lines', async () => (await textOf(page)).length > 20_000);
      const scroller = page.getByRole('region', { name: 'Text of the file' });
      await scroller.hover();
      await page.mouse.wheel(0, -100);
      await scroller.evaluate((element) => {
        element.scrollTop = 99 * 20;
      });
      for (const change of [
        async () => proxy.cut(),
        () => page.emulateMedia({ colorScheme: 'dark' }),
        () => page.setViewportSize({ width: 500, height: 700 }),
        () => page.emulateMedia({ forcedColors: 'active' }),
      ]) {
        const before = (await textOf(page)).length;
        await change();
        // About 2,500 lines.
        await waitFor('more lines', async () => (await textOf(page)).length > before + 27_000);
        expect(await firstLine(page)).toBe('line 100');
      }
      const follow = page.getByRole('button', { name: /new lines$/u });
      await follow.waitFor();
      await scroller.focus();
      await page.keyboard.press('End');
      await follow.waitFor({ state: 'detached' });
      const before = (await textOf(page)).length;
      await waitFor('more lines', async () => (await textOf(page)).length > before + 5000);
      await waitFor('the end', () =>
        scroller.evaluate(
          (element) => element.scrollHeight - element.clientHeight - element.scrollTop < 70,
        ),
      );
    },
  );
});

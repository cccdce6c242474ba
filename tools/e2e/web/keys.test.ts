// The keys of the page: each does what the dialog says, none does it in a field, and the focus is never lost.
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { numbered } from '../support/scripts.ts';
import { serve } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { goByKeys } from './support/go-by-keys.ts';
import { fully } from './support/page-writes.ts';
import { nextFrame } from './support/page-time.ts';

/** What has the focus, in words. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    return `${element?.tagName.toLowerCase()} ${element?.matches('main') === true ? '' : element?.textContent}`.trim();
  });

describe.skipIf(missingBrowser !== null)('the keys of the page', () => {
  const browser = useBrowser();

  fully(
    'lead to every view and through its rows, and back to the row that one left by',
    async ({ machine }) => {
      const server = await serve(machine);
      for (const name of ['a.txt', 'b.txt', 'c.txt']) await upload(server, name, `${name}\n`);
      const { page } = await openPage(browser(), pageLink(server));
      const { keyboard } = page;
      await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
      for (const [key, view] of [
        ['c', 'Conversations'],
        ['h', 'Changes'],
        ['t', 'Traces'],
        ['p', 'Plan'],
        ['n', 'Now'],
        ['w', 'Writes'],
      ] as const) {
        await goByKeys(page, key, view);
        expect(await page.title()).toBe(`${view} · Orion`);
      }
      await page.getByRole('link', { name: 'c.txt' }).waitFor();
      for (const [key, row] of [
        ['j', 'a c.txt'],
        ['j', 'a b.txt'],
        ['j', 'a a.txt'],
        ['j', 'a a.txt'],
        ['k', 'a b.txt'],
      ] as const) {
        await keyboard.press(key);
        expect(await focused(page)).toBe(row);
      }
      await keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'b.txt' }).waitFor();
      expect(await focused(page)).toBe('main');
      await keyboard.press('Escape');
      await page.getByRole('heading', { level: 1, name: 'Writes' }).waitFor();
      await expect.poll(() => focused(page)).toBe('a b.txt');
    },
  );

  fully('are listed, type characters in a field, and can be switched off', async ({ machine }) => {
    const server = await serve(machine);
    const { page } = await openPage(browser(), pageLink(server));
    const { keyboard } = page;
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
    await keyboard.press('?');
    await dialog.waitFor();
    for (const key of ['?', 'j', 'Esc', 'Ctrl+F', 'g h', 'Ctrl+Enter'])
      expect(await dialog.getByText(key, { exact: true }).count()).toBe(1);
    // Behind a dialog nothing moves.
    await keyboard.press('g');
    await keyboard.press('w');
    expect(await page.getByRole('heading', { level: 1, name: 'Now' }).count()).toBe(1);
    await dialog.getByRole('checkbox').uncheck();
    await keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });

    await keyboard.press('?');
    await keyboard.press('g');
    await keyboard.press('w');
    expect(await dialog.count()).toBe(0);
    expect(await page.getByRole('heading', { level: 1, name: 'Now' }).count()).toBe(1);
    await page.reload();
    await page.getByRole('button', { name: 'Keys' }).click();
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => focused(page)).toBe('button Keys');

    await goByKeys(page, 'c', 'Conversations');
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByLabel('Message').focus();
    await keyboard.type('?gw./j');
    expect(await page.getByLabel('Message').inputValue()).toBe('?gw./j');
    await keyboard.press('Escape');
    expect(await focused(page)).toBe('main');
    await keyboard.press('Escape');
    await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor();
  });

  fully(
    'find text and lines of a file that are out of sight, and give Ctrl+F back the second time',
    async ({ machine }) => {
      const server = await serve(machine);
      const id = await upload(server, 'long.txt', `${numbered('line', 1, 12_000)}Last (one)\n`);
      const { page } = await openPage(browser(), pageLink(server));
      const { keyboard } = page;
      await page.getByRole('link', { name: 'long.txt' }).click();
      await page.getByText('Last (one)').waitFor();
      expect(page.url()).toContain(id);
      const scroller = page.getByRole('region', { name: 'Text of the file' });
      const marked = (): Promise<string | null> =>
        scroller.evaluate((element) => {
          const [range] = CSS.highlights.get('found') ?? [];
          if (!(range instanceof Range)) return null;
          const { top, bottom } = range.getBoundingClientRect();
          const box = element.getBoundingClientRect();
          return `${String(range)}${top >= box.top && bottom <= box.bottom ? '' : ' out of sight'}`;
        });
      const look = async (text: string, key = 'Enter'): Promise<unknown> => {
        await page.getByRole('searchbox').fill(text);
        await keyboard.press(key);
        // Sizes of what was out of sight are known a frame later.
        await nextFrame(page);
        return [await page.getByRole('search').getByRole('status').textContent(), await marked()];
      };
      await keyboard.press('/');
      await expect.poll(() => focused(page)).toBe('input');
      expect(await look(':9000')).toEqual(['Line 9,000', 'line 9000']);
      expect(await look(':99999')).toEqual(['Not in the text that is drawn', null]);
      expect(await look('LINE 77')).toEqual(['Line 77', 'line 77']);
      await keyboard.press('Enter');
      await page.getByText('Line 770', { exact: true }).waitFor();
      await keyboard.press('Shift+Enter');
      await page.getByText('Line 77', { exact: true }).waitFor();
      await keyboard.press('Shift+Enter');
      await page.getByText('Line 7,799', { exact: true }).waitFor();
      expect(await look('last (ONE)')).toEqual(['Line 12,001', 'Last (one)']);
      expect(await look('nowhere')).toEqual(['Not in the text that is drawn', null]);

      await keyboard.press('Escape');
      expect(await focused(page)).toBe('main');
      /** Whether the page kept a key from the browser. */
      const taken = async (): Promise<boolean> => {
        await page.evaluate(() => {
          window.addEventListener('keydown', ({ defaultPrevented }) => {
            document.body.dataset['taken'] = String(defaultPrevented);
          });
        });
        await keyboard.press('Control+f');
        return page.evaluate(() => document.body.dataset['taken'] === 'true');
      };
      expect(await taken()).toBe(true);
      expect(await focused(page)).toBe('input');
      expect(await taken()).toBe(false);
      await page.evaluate(() => document.querySelector('main')?.focus());
      await keyboard.press('End');
      await expect.poll(() => page.getByRole('button', { name: /new line/u }).count()).toBe(0);
    },
  );
});

// A write plan on the page: what is applied is what was shown.
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { serve } from '../support/serve.ts';
import { fully } from './support/page-writes.ts';

describe.skipIf(missingBrowser !== null)('a plan on the page', () => {
  const browser = useBrowser();

  fully(
    'says what is wrong, shows what would change, and refuses when the file has changed since',
    async ({ machine }) => {
      await machine.write('a.txt', 'old\n');
      const server = await serve(machine);
      const watched = await openPage(browser(), pageLink(server));
      const { page } = watched;
      await page.getByRole('navigation').getByRole('link', { name: 'Plan' }).click();
      const preview = page.getByRole('button', { name: 'Show what it would change' });
      await page.getByLabel('Its text').fill('{');
      await preview.click();
      await page.getByText('INVALID_PLAN').waitFor();

      const operations = [{ type: 'overwrite', target_file: 'a.txt', content: 'new\n' }];
      const text = JSON.stringify({ intent: 'test', operations });
      await page.getByLabel('Its text').fill(text);
      await preview.click();
      await page.getByRole('cell', { name: 'new' }).waitFor();
      expect(String(await machine.read('a.txt'))).toBe('old\n');

      await machine.write('a.txt', 'edited\n');
      await page.getByRole('button', { name: 'Change 1 file' }).click();
      await page.getByRole('group', { name: 'Error' }).waitFor();
      expect(String(await machine.read('a.txt'))).toBe('edited\n');

      await preview.click();
      await page.getByRole('cell', { name: 'edited' }).waitFor();
      await page.getByRole('button', { name: 'Change 1 file' }).click();
      await page.getByText('Applied', { exact: true }).waitFor();
      expect(String(await machine.read('a.txt'))).toBe('new\n');
      expectClean(watched, server.url);
    },
  );
});

// Hazard: what was taken back is gone, or an undo takes away what somebody has edited since.
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { serve } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { fully } from './support/page-writes.ts';

/** Asks for the newest change that is in effect to be taken back, as far as the question. */
async function askForUndo(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Undo…' }).first().click();
  await page.getByRole('dialog').getByRole('table').waitFor();
}

describe.skipIf(missingBrowser !== null)('changes on the page', () => {
  const browser = useBrowser();

  fully(
    'are undone, the undo too, and not over an edit unless that is said',
    async ({ machine }) => {
      const server = await serve(machine);
      await machine.write('a.txt', 'before\n');
      const id = await upload(server, 'a.txt', 'after\n', 'overwrite');
      const done = await server.ask(`/api/write-sessions/${id}/finalize`, { json: {} });
      expect(done.status).toBe(200);
      const content = async (): Promise<string> => String(await machine.read('a.txt'));
      const { page } = await openPage(browser(), pageLink(server));
      await page.getByRole('navigation').getByRole('link', { name: 'Changes' }).click();
      const dialog = page.getByRole('dialog');
      const undo = dialog.getByRole('button', { name: 'Undo a.txt' });

      await askForUndo(page);
      expect(await dialog.getByRole('cell').allTextContents()).toEqual(['before', 'after']);
      await undo.click();
      await dialog.waitFor({ state: 'hidden' });
      expect(await content()).toBe('before\n');
      // The button is gone; whoever uses keys goes on from its row.
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.tagName))
        .not.toBe('BODY');
      await page.getByText('undone', { exact: true }).waitFor();

      await askForUndo(page);
      await undo.click();
      await dialog.waitFor({ state: 'hidden' });
      expect(await content()).toBe('after\n');

      await machine.write('a.txt', 'edited\n');
      await askForUndo(page);
      await undo.click();
      await dialog.getByRole('group', { name: 'Error' }).getByText('TARGET_CHANGED').waitFor();
      // Outside of the dialog nothing is read aloud.
      await page.locator('dialog [aria-live=polite]', { hasText: 'Error: ' }).waitFor();
      expect(await content()).toBe('edited\n');
      await dialog.getByRole('button', { name: 'Leave it as it is' }).click();
      await dialog.waitFor({ state: 'hidden' });

      await askForUndo(page);
      await undo.click();
      await dialog.getByRole('button', { name: /keep the edited version/u }).click();
      await dialog.waitFor({ state: 'hidden' });
      expect(await content()).toBe('before\n');
      // What was edited is a change as well.
      await askForUndo(page);
      await undo.click();
      await dialog.waitFor({ state: 'hidden' });
      expect(await content()).toBe('edited\n');
    },
  );
});

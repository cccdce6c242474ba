import type { Page } from 'playwright-core';

import { waitFor } from '../../support/wait.ts';

/**
 * Goes to a view by `g` and its key. Two keys count together for a second and a half, which a busy machine may need for
 * one of them: they are pressed again until they lead there.
 */
export async function goByKeys(page: Page, key: string, view: string): Promise<void> {
  const heading = page.getByRole('heading', { level: 1, name: view, exact: true });
  await waitFor(`the view ${view}`, async () => {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    return heading.waitFor({ timeout: 2000 }).then(
      () => true,
      () => false,
    );
  });
}

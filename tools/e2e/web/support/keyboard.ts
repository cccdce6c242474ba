/** A person at the page who has no pointer. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { waitFor } from '../../support/wait.ts';

type Place = { readonly name: string; readonly isSeen: boolean };

/** What has the focus, by its name; null where nothing has it. */
function placeOf(page: Page): Promise<Place | null> {
  return page.evaluate(() => {
    const { activeElement: element } = document;
    if (element === null || element === document.body) return null;
    const isField = element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement;
    // Without the text of the field itself, which may lie within its label.
    const name = isField
      ? Array.from(element.labels?.[0]?.childNodes ?? [])
          .map((node) => (node instanceof Text ? node.data : ''))
          .join('')
      : (element.ariaLabel ?? element.textContent);
    return { name: name.trim(), isSeen: getComputedStyle(element).outlineStyle !== 'none' };
  });
}

/** Goes by a key to what has this name, where one has to see that one is there. */
export async function goTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press(key);
    const at = await placeOf(page);
    if (at === null || !(name instanceof RegExp ? name.test(at.name) : at.name === name)) continue;
    expect([at.name, at.isSeen]).toEqual([at.name, true]);
    return;
  }
  throw new Error(`the keyboard does not lead to ${String(name)}`);
}

/** The same, and does it; afterwards the focus is somewhere. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  await goTo(page, name);
  await page.keyboard.press('Enter');
  await hasFocus(page);
}

/** Whoever goes on by keys does not begin at the top. */
export async function hasFocus(page: Page): Promise<void> {
  await waitFor('the focus', async () => (await placeOf(page)) !== null);
}

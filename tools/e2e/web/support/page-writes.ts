/** A write that a person begins on the page and watches there. */
import type { Browser, Page } from 'playwright-core';

import { sendMessage } from '../../support/browser.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { numbered, writeDocument } from '../../support/scripts.ts';
import type { ServedProcess } from '../../support/serve.ts';
import { test } from '../../support/test.ts';
import { openServed } from './served-page.ts';
import type { PageSurroundings, ServedPage } from './served-page.ts';

export type PageWrite = PageSurroundings & {
  readonly content?: string;
  readonly eventsPerSecond?: number;
};

/**
 * At the usual pace no test is there to see its end, however slow the machine: `provider.hurry()` leads there when the
 * test is done with the middle.
 */
export const LONG_TEXT = numbered('a line of a document that takes minutes, number', 1, 20_000);

/** Left to `npm run test:web`, which runs all of them. */
export const fully = test.runIf(process.env['ORION_EVERY_WEB_TEST'] === '1');

export async function startWriting(
  machine: Sandbox,
  browser: Browser,
  { content = LONG_TEXT, eventsPerSecond = 12, ...surroundings }: PageWrite = {},
): Promise<ServedPage> {
  const shape = { chunk: { min: 200, max: 900 }, eventsPerSecond };
  const script = writeDocument({ target: 'docs/long.md', content }, { shape });
  const served = await openServed(machine, browser, script, surroundings);
  await beginWriting(served.page);
  return served;
}

/** Asks for the document in a new conversation, and opens the view of its write. */
export async function beginWriting(page: Page): Promise<void> {
  await sendMessage(page, 'Write the long document.');
  await page.getByRole('link', { name: 'docs/long.md' }).click();
  await page.getByRole('region', { name: 'Text of the file' }).waitFor();
}

/** The whole text that the document holds. */
export function textOf(page: Page): Promise<string> {
  return page.evaluate(() =>
    Array.from(document.querySelectorAll('[data-live-text]'), (block) => block.textContent).join(
      '',
    ),
  );
}

/** How long that is, without reading it out of the browser. */
export function countCharacters(page: Page): Promise<number> {
  return page.evaluate(() =>
    Array.from(document.querySelectorAll('[data-live-text]')).reduce(
      (sum, block) => sum + block.textContent.length,
      0,
    ),
  );
}

export type Marks = { readonly received: number; readonly saved: number; readonly synced: number };

export function watermarks(page: Page): Promise<Marks> {
  return page.evaluate(() => {
    const read = (name: string): number =>
      Number(
        document.querySelector(`[data-watermark=${name}]`)?.textContent.replaceAll(/\D/gu, ''),
      );
    return { received: read('received'), saved: read('saved'), synced: read('synced') };
  });
}

/** What the page takes for its window being covered, or seen again. */
export async function setVisibility(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate((given) => {
    Object.defineProperty(document, 'visibilityState', { value: given, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}

/** Streams that the server holds open, by its own count. */
export async function openStreams(server: ServedProcess): Promise<number> {
  const { text } = await server.ask('/metrics');
  return Number(/^orion_event_streams\S* (\S+)$/mu.exec(text)?.[1]);
}

/** The text of the first line that is in sight. */
export function firstLine(page: Page): Promise<string> {
  return page.getByRole('region', { name: 'Text of the file' }).evaluate((scroller) => {
    const { left, top } = scroller.getBoundingClientRect();
    const at = document.caretPositionFromPoint(left + 140, top + 8);
    const text = at?.offsetNode.textContent ?? '';
    const start = text.lastIndexOf('\n', (at?.offset ?? 0) - 1) + 1;
    return text.slice(start).split('\n', 1)[0] ?? '';
  });
}

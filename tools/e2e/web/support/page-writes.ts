/** A write that a person begins on the page and watches there. */
import type { Browser, Page } from 'playwright-core';

import { openPage, pageLink } from '../../support/browser.ts';
import type { PageProxy } from './page-proxy.ts';
import { at } from '../../support/sandbox.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { writeDocument } from '../../support/scripts.ts';
import { serve } from '../../support/serve.ts';
import type { ServedProcess } from '../../support/serve.ts';
import { test } from '../../support/test.ts';

export type PageWrite = {
  readonly content: string;
  readonly eventsPerSecond?: number;
  /** Between the browser and the server. */
  readonly proxy?: PageProxy;
  /** Time on the page, and everything that waits on it, is moved by `page.clock`. */
  readonly hasFakeClock?: boolean;
  /** Further options of the server. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Left to `npm run test:web`, which runs all of them. */
export const fully = test.runIf(process.env['ORION_EVERY_WEB_TEST'] === '1');

export async function startWriting(
  machine: Sandbox,
  browser: Browser,
  { content, eventsPerSecond, proxy, hasFakeClock = false, args: more = [], env = {} }: PageWrite,
) {
  const shape = { chunk: { min: 200, max: 900 }, eventsPerSecond };
  const provider = await machine.provider(
    writeDocument({ target: 'docs/long.md', content }, { shape }),
  );
  const args = [...at(provider), ...more];
  const names = proxy === undefined ? [] : ['--allow-host', `127.0.0.1:${proxy.port}`];
  const server = await serve(machine, [...args, ...names], { env });
  proxy?.leadTo(server.port);
  const link = new URL(pageLink(server));
  if (proxy !== undefined) link.port = String(proxy.port);
  const watched = await openPage(browser, link.href, { hasFakeClock });
  await beginWriting(watched.page);
  return { provider, args, server, watched, page: watched.page };
}

/** Asks for the document in a new conversation, and opens the view of its write. */
export async function beginWriting(page: Page): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
  await page.getByRole('link', { name: 'New conversation' }).click();
  await page.getByLabel('Message').fill('Write the long document.');
  await page.getByRole('button', { name: 'Send' }).click();
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

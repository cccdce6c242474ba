/** Chromium for tests: one for all tests of a file, and a profile of its own for each page. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';

import { launchChromium } from './chromium.ts';
import type { ServedProcess } from './serve.ts';
import { LIMIT_MS } from './wait.ts';

export { missingBrowser } from './chromium.ts';

/** One browser for the tests of a file. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  return () => {
    if (browser === undefined) throw new Error('the browser is opened by beforeAll');
    return browser;
  };
}

/** A page and those opened beside it, watched: whom they asked, what they logged, what their policy had to refuse. */
export type WatchedPage = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Hosts that were asked for anything. One on another machine fails every test. */
  readonly hosts: () => ReadonlySet<string>;
  readonly problems: readonly string[];
};

export type PageOptions = {
  readonly hasFakeClock?: boolean;
  /** Runs in every document before the code of the page. */
  readonly before?: () => void;
};

export async function openPage(
  browser: Browser,
  url: string,
  { hasFakeClock = false, before }: PageOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext();
  context.setDefaultTimeout(LIMIT_MS);
  const watched = watch(context);
  onTestFinished(async () => {
    // Its pages would ask a server that is gone, beside the tests that follow.
    await context.close();
    const isHere = (host: string): boolean => /^(?:127\.0\.0\.1|[a-z.]*localhost):/u.test(host);
    expect([...watched.hosts()].filter((host) => !isHere(host))).toEqual([]);
  });
  if (before !== undefined) await context.addInitScript(before);
  const page = await context.newPage();
  if (hasFakeClock) await page.clock.install();
  await page.goto(url);
  return { context, page, ...watched };
}

function watch(context: BrowserContext): Pick<WatchedPage, 'hosts' | 'problems'> {
  const hosts = new Set<string>();
  const problems: string[] = [];
  context.on('request', (request) => {
    const { host } = new URL(request.url());
    // `blob:` and `data:` are asked of nobody.
    if (host !== '') hosts.add(host);
  });
  context.on('weberror', (error) => problems.push(String(error.error())));
  context.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|TrustedScript/u.test(message.text()))
      problems.push(message.text());
  });
  return { hosts: () => hosts, problems };
}

/** The log-in link that a server has printed. */
export function pageLink({ running }: ServedProcess): string {
  const [, link = ''] = /^Page: (\S+)/mu.exec(running.stderr()) ?? [];
  return link;
}

/** Nothing went wrong on the page, and it asked nobody but its own server. */
export function expectClean({ problems, hosts }: WatchedPage, url: string): void {
  expect(problems).toEqual([]);
  expect([...hosts()]).toEqual([new URL(url).host]);
}

/** Begins a conversation on the page with this message. */
export async function sendMessage(page: Page, text: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
  await page.getByRole('link', { name: 'New conversation' }).click();
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

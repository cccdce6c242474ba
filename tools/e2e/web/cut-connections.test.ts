// Hazard: a connection that is cut at an event loses it, or has it or the end of the turn come twice.
import type { Behaviour } from '@orion/llm-adapters/scripted';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { createRandom } from '@orion/common';

import { missingBrowser, sendMessage, useBrowser } from '../support/browser.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { BEGIN, LAST_WORD, numbered, sha256, writeDocument } from '../support/scripts.ts';
import { waitFor } from '../support/wait.ts';
import { startProxy } from './support/page-proxy.ts';
import type { PageProxy } from './support/page-proxy.ts';
import { fully, LONG_TEXT, textOf } from './support/page-writes.ts';
import { openServed } from './support/served-page.ts';
import type { ServedPage } from './support/served-page.ts';
import { readStreams, recordStreams } from './support/stream-record.ts';

const CUTS = 20;
/** What the model says before it writes: each piece once and in order. */
const SAID = numbered('word', 1, 150).replaceAll('\n', ' ').trim();

/** Cuts streams at random events, so many times, and counts them. */
function cutAtRandom(proxy: PageProxy, seed: number): () => number {
  const random = createRandom(seed);
  let cuts = 0;
  proxy.cutStreams(() => {
    if (cuts === CUTS) return null;
    cuts += 1;
    return random.between(1, 5);
  });
  return () => cuts;
}

/** A turn of text and of a file, which is asked for on the page and stays open until `provider.hurry()`. */
async function startTurn(
  machine: Sandbox,
  browser: Parameters<typeof openServed>[1],
  proxy: PageProxy,
): Promise<ServedPage> {
  const target = 'docs/long.md';
  const [writing] = writeDocument({ target, content: LONG_TEXT }).behaviours;
  if (writing === undefined) throw new Error('the script has changed');
  const arguments_ = { intent: 'test', operation: 'create', target_file: target };
  const begin: Behaviour = {
    when: { toolResults: 0, toolChoice: 'auto' },
    reply: { text: SAID, toolCalls: [{ name: BEGIN, arguments: arguments_ }] },
  };
  const served = await openServed(
    machine,
    browser,
    {
      shape: { chunk: { min: 10, max: 60 }, eventsPerSecond: 40 },
      behaviours: [writing, begin, LAST_WORD],
    },
    { proxy, before: recordStreams },
  );
  const { page } = served;
  await page.evaluate(() => {
    const busy: string[] = [];
    Object.assign(window, { busy });
    new MutationObserver((changes) => {
      for (const { target } of changes)
        if (target instanceof Element && target.matches('article.turn'))
          busy.push(target.ariaBusy ?? '');
    }).observe(document.body, { subtree: true, attributeFilter: ['aria-busy'] });
  });
  await sendMessage(page, 'Write the long document.');
  return served;
}

/** How often the turn on the page began and ended, in its own words. */
const changesOfBusy = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => (window as unknown as { busy: string[] }).busy);

/** Over all connections: whatever came whole, the page has taken, and does not ask for again. */
const eventsOf = async (page: Page) => (await readStreams(page)).flat();

/** Each event from the first on, once and in order; `done` once, and as the last. */
function expectWhole(events: readonly { readonly seq: number; readonly type: string }[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(events.map(({ type }) => type).indexOf('done')).toBe(events.length - 1);
}

/** The page shows each event once: the words of the model, one call, one file, and one end. */
async function expectShownOnce(page: Page): Promise<void> {
  const turn = page.getByRole('article', { name: 'Turn' });
  expect(await turn.locator('.prose').allTextContents()).toEqual([SAID, 'All written.']);
  expect(await turn.locator('details.call').count()).toBe(1);
  expect(await turn.getByRole('link', { name: 'docs/long.md' }).count()).toBe(1);
  expect(await changesOfBusy(page)).toEqual(['false']);
}

describe.skipIf(missingBrowser !== null)('connections that are cut', () => {
  const browser = useBrowser();

  fully(
    `at ${CUTS} random events: every event once and in order, and one end of the turn`,
    async ({ machine }) => {
      const proxy = await startProxy();
      const countCuts = cutAtRandom(proxy, 1);
      const { page, provider } = await startTurn(machine, browser(), proxy);
      await waitFor('the cuts', () => countCuts() === CUTS);
      provider.hurry();
      await page.locator('article.turn[aria-busy=false]').waitFor();
      expect((await readStreams(page)).length).toBeGreaterThan(CUTS);
      const taken = await eventsOf(page);
      expectWhole(taken);
      await expectShownOnce(page);

      // What the tab has read, it shows again without asking.
      await page.getByRole('link', { name: 'docs/long.md' }).click();
      await page.getByText(sha256(LONG_TEXT)).waitFor();
      expect(await eventsOf(page)).toEqual(taken);

      // A new document reads the same log from its beginning, with its one end.
      await page.reload();
      await page.getByText(sha256(LONG_TEXT)).waitFor();
      await waitFor('the end', async () => (await eventsOf(page)).length === taken.length);
      expect(await eventsOf(page)).toEqual(taken);
    },
  );

  fully('while a file is written: each line once and in order', async ({ machine }) => {
    const proxy = await startProxy();
    const { page, provider } = await startTurn(machine, browser(), proxy);
    await page.getByRole('link', { name: 'docs/long.md' }).click();
    // A document that reads all of it here.
    await page.reload();
    await waitFor('some text', async () => (await textOf(page)).length > 1000);
    const countCuts = cutAtRandom(proxy, 2);
    proxy.cut();
    await waitFor('the cuts', async () => {
      expect(LONG_TEXT.startsWith(await textOf(page))).toBe(true);
      return countCuts() === CUTS;
    });
    provider.hurry();
    await page.getByText(sha256(LONG_TEXT)).waitFor();
    const text = await textOf(page);
    expect(text.length).toBeGreaterThan(1000);
    expect(LONG_TEXT.startsWith(text)).toBe(true);
    await waitFor('the end', async () => (await eventsOf(page)).at(-1)?.type === 'done');
    expectWhole(await eventsOf(page));
  });

  fully(
    'and begin again with the first event: what comes again is shown once, and the turn ends once',
    async ({ machine }) => {
      const proxy = await startProxy();
      const { page, provider } = await startTurn(machine, browser(), proxy);
      proxy.forgetPlaces();
      for (let cut = 1; cut <= 4; cut += 1) {
        await waitFor('some events', async () => {
          const streams = await readStreams(page);
          return streams.length === cut && (streams.at(-1)?.length ?? 0) > 10 * cut;
        });
        proxy.cut();
      }
      provider.hurry();
      await page.locator('article.turn[aria-busy=false]').waitFor();
      const streams = await readStreams(page);
      // All of them began with the first event, so that most came five times; `done` came to the last one alone.
      for (const events of streams) expect(events[0]?.seq).toBe(1);
      expectWhole(streams.at(-1) ?? []);
      expect(streams.flat().filter(({ type }) => type === 'done')).toHaveLength(1);
      await expectShownOnce(page);
    },
  );
});

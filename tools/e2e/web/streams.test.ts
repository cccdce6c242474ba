// Hazard: a tab that believes in a dead connection, that takes all connections of its browser, or that holds one unseen.
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, useBrowser } from '../support/browser.ts';
import { startProxy } from './support/page-proxy.ts';
import { passUntil, stopTime } from './support/page-time.ts';
import {
  fully,
  LONG_TEXT,
  openStreams,
  setVisibility,
  startWriting,
  textOf,
  watermarks,
} from './support/page-writes.ts';
import { waitFor } from '../support/wait.ts';

const hasText = (page: Page, more = 0): Promise<boolean> =>
  textOf(page).then(({ length }) => length > more + 5000);

describe.skipIf(missingBrowser !== null)('the connection of a tab', () => {
  const browser = useBrowser();

  fully(
    'that stays open and silent is lost after 15 s, and found again at once',
    async ({ machine }) => {
      const proxy = await startProxy();
      const surroundings = { proxy, hasFakeClock: true };
      const { page, server, provider } = await startWriting(machine, browser(), surroundings);
      await waitFor('some text', () => hasText(page));
      await stopTime(page);
      proxy.become('silent');
      const contact = page.getByText(/No contact for/u);
      await page.clock.runFor(13_000);
      // What the page had to draw, it has drawn.
      await page.clock.runFor(500);
      expect(await contact.count()).toBe(0);
      // Behind what was still on its way.
      await passUntil(page, 'the loss', async () => (await contact.count()) > 0, {
        mostMs: 16_000,
        stepMs: 500,
      });
      expect(await contact.textContent()).toMatch(
        /No contact for 1\d s\..*The next try is in .*Try now/u,
      );
      const before = (await textOf(page)).length;
      proxy.become('passing');
      await page.clock.resume();
      await waitFor('further text', () => hasText(page, before));
      await contact.waitFor({ state: 'detached' });

      // For a minute it polls; then it tries a stream again.
      await waitFor('a stream', async () => {
        await page.clock.fastForward(2000);
        return (await openStreams(server)) === 1;
      });
      // The machine sleeps: time passes, and no timer knows of it.
      await stopTime(page);
      proxy.silenceStreams();
      const asleep = (await textOf(page)).length;
      await page.clock.setSystemTime(Date.now() + 3_600_000);
      await setVisibility(page, 'visible');
      await passUntil(page, 'the text after the sleep', () => hasText(page, asleep), {
        mostMs: 10_000,
      });
      expect(LONG_TEXT.startsWith(await textOf(page))).toBe(true);
      await page.clock.resume();
      provider.hurry();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
    },
  );

  fully(
    'is closed while nobody sees the tab for 10 s, and resumed from where it was',
    async ({ machine }) => {
      const { page, server, watched, provider } = await startWriting(machine, browser(), {
        hasFakeClock: true,
      });
      const hasReceived = async (more: number): Promise<boolean> =>
        (await watermarks(page)).received > more;
      await waitFor('some text', () => hasText(page));
      await waitFor('its stream', async () => (await openStreams(server)) === 1);
      await stopTime(page);
      await setVisibility(page, 'hidden');
      await page.clock.runFor(9000);
      const { received: unseen } = await watermarks(page);
      await passUntil(page, 'what still arrives', () => hasReceived(unseen), {
        mostMs: 900,
        stepMs: 1,
      });
      await page.clock.runFor(1000);
      await waitFor('no stream', async () => (await openStreams(server)) === 0);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      const { received } = await watermarks(page);
      await waitFor('a longer file', async () => {
        const { json } = await server.ask('/api/write-sessions');
        const [session] = (json as { sessions: { bytes: number }[] }).sessions;
        return (session?.bytes ?? 0) > received + 10_000;
      });
      await page.clock.runFor(30_000);
      // What the page knew to be there is still read.
      expect(asked.filter((path) => !path.endsWith('/content'))).toEqual([]);
      expect((await watermarks(page)).received).toBe(received);
      await setVisibility(page, 'visible');
      await passUntil(page, 'what was missed', () => hasReceived(received + 10_000), {
        mostMs: 5000,
      });
      expect(LONG_TEXT.startsWith(await textOf(page))).toBe(true);
      await page.clock.resume();
      provider.hurry();
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expectClean(watched, server.url);
    },
  );

  fully(
    'is a stream in four of seven visible windows: the others poll, and all follow the write',
    async ({ machine }) => {
      const { page, server, watched } = await startWriting(machine, browser());
      const others = [];
      for (let window = 2; window <= 7; window += 1) {
        const other = await watched.context.newPage();
        await other.goto(page.url());
        await other.getByRole('region', { name: 'Text of the file' }).waitFor();
        others.push(other);
      }
      const pages = [page, ...others];
      await waitFor('text in all of them', async () =>
        (await Promise.all(pages.map((each) => hasText(each)))).every(Boolean),
      );
      await waitFor('four streams', async () => (await openStreams(server)) === 4);
      const opened: string[] = [];
      for (const other of others)
        other.on('request', (request) => {
          const { accept = '' } = request.headers();
          if (accept.includes('text/event-stream')) opened.push(request.url());
        });
      // A seat that becomes free is taken by a window that polls.
      await page.close();
      await waitFor('the fourth stream', () => opened.length > 0);
      await waitFor('four of them', async () => (await openStreams(server)) === 4);
      await others[0]?.getByRole('button', { name: 'Stop' }).click();
      for (const other of others) {
        await other.getByRole('button', { name: /^Write docs/u }).waitFor();
        expect(LONG_TEXT.startsWith(await textOf(other))).toBe(true);
      }
    },
  );

  fully('polls behind a proxy that holds streams back', async ({ machine }) => {
    const proxy = await startProxy();
    const surroundings = { proxy, hasFakeClock: true };
    const { page, server, provider } = await startWriting(machine, browser(), surroundings);
    await waitFor('some text', () => hasText(page));
    proxy.become('buffering');
    proxy.cut();
    const before = (await textOf(page)).length;
    await waitFor('further text', async () => {
      await page.clock.fastForward(1000);
      return hasText(page, before);
    });
    await waitFor('no stream', async () => (await openStreams(server)) === 0);
    provider.hurry();
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    expect(LONG_TEXT.startsWith(await textOf(page))).toBe(true);
  });
});

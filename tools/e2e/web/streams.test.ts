// Hazard: a tab that believes in a dead connection, that takes all connections of its browser, or that holds one unseen.
import { describe, expect } from 'vitest';

import { expectClean, missingBrowser, useBrowser } from '../support/browser.ts';
import { startProxy } from './support/page-proxy.ts';
import {
  fully,
  openStreams,
  setVisibility,
  startWriting,
  textOf,
  watermarks,
} from './support/page-writes.ts';
import { numbered, sha256 } from '../support/scripts.ts';
import { waitFor } from '../support/wait.ts';

const CONTENT = numbered('line', 1, 6000);
const SLOWLY = 12;

describe.skipIf(missingBrowser !== null)('the connection of a tab', () => {
  const browser = useBrowser();

  fully(
    'that stays open and silent is lost after 15 s, and found again at once',
    async ({ machine }) => {
      const proxy = await startProxy();
      const { page, server } = await startWriting(machine, browser(), {
        content: CONTENT,
        eventsPerSecond: SLOWLY,
        proxy,
        hasFakeClock: true,
      });
      await waitFor('some text', async () => (await textOf(page)).length > 5000);
      proxy.become('silent');
      const contact = page.getByText(/No contact for/u);
      await page.clock.fastForward(13_000);
      expect(await contact.count()).toBe(0);
      await page.clock.fastForward(4000);
      await contact.waitFor();
      expect(await contact.textContent()).toMatch(
        /No contact for 1\d s\..*The next try is in .*Try now/u,
      );
      const before = (await textOf(page)).length;
      proxy.become('passing');
      await page.clock.fastForward(20_000);
      await waitFor('further text', async () => (await textOf(page)).length > before);
      await contact.waitFor({ state: 'detached' });

      // For a minute it polls; then it tries a stream again.
      await waitFor('a stream', async () => {
        await page.clock.fastForward(10_000);
        return (await openStreams(server)) === 1;
      });
      // The machine sleeps: time passes, and no timer knows of it.
      proxy.silenceStreams();
      const asleep = (await textOf(page)).length;
      await page.clock.setSystemTime(Date.now() + 3_600_000);
      await setVisibility(page, 'visible');
      await waitFor('the text after the sleep', async () => (await textOf(page)).length > asleep);
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(CONTENT.startsWith(await textOf(page))).toBe(true);
    },
  );

  fully(
    'is closed while nobody sees the tab for 10 s, and resumed from where it was',
    async ({ machine }) => {
      const { page, server, watched } = await startWriting(machine, browser(), {
        content: CONTENT,
        eventsPerSecond: SLOWLY,
        hasFakeClock: true,
      });
      await waitFor('some text', async () => (await textOf(page)).length > 5000);
      expect(await openStreams(server)).toBe(1);
      await setVisibility(page, 'hidden');
      await page.clock.fastForward(8000);
      expect(await openStreams(server)).toBe(1);
      await page.clock.fastForward(3000);
      await waitFor('no stream', async () => (await openStreams(server)) === 0);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      const { received } = await watermarks(page);
      await waitFor('a longer file', async () => {
        const { json } = await server.ask('/api/write-sessions');
        const [session] = (json as { sessions: { bytes: number }[] }).sessions;
        return (session?.bytes ?? 0) > received + 10_000;
      });
      await page.clock.fastForward(30_000);
      // What the page knew to be there is still read.
      expect(asked.filter((path) => !path.endsWith('/content'))).toEqual([]);
      expect((await watermarks(page)).received).toBe(received);
      await setVisibility(page, 'visible');
      await waitFor(
        'what was missed',
        async () => (await watermarks(page)).received > received + 10_000,
      );
      await page.getByRole('region', { name: 'Receipt' }).waitFor();
      expect(CONTENT.startsWith(await textOf(page))).toBe(true);
      expectClean(watched, server.url);
    },
  );

  fully(
    'is a stream in four of seven visible windows: the others poll, and all follow the write',
    async ({ machine }) => {
      const content = numbered('line', 1, 12_000);
      const { page, server, watched } = await startWriting(machine, browser(), {
        content,
        eventsPerSecond: SLOWLY,
      });
      const others = [];
      for (let window = 2; window <= 7; window += 1) {
        const other = await watched.context.newPage();
        await other.goto(page.url());
        await other.getByRole('region', { name: 'Text of the file' }).waitFor();
        others.push(other);
      }
      const pages = [page, ...others];
      await waitFor('text in all of them', async () => {
        const texts = await Promise.all(pages.map(textOf));
        return texts.every((text) => text.length > 5000);
      });
      expect(await openStreams(server)).toBe(4);
      // A seat that becomes free is taken by a window that polls.
      await page.close();
      await waitFor('the fourth stream', async () => (await openStreams(server)) === 4);
      for (const other of others) {
        await other.getByText(sha256(content)).waitFor();
        expect(content.startsWith(await textOf(other))).toBe(true);
      }
    },
  );

  fully('polls behind a proxy that holds streams back', async ({ machine }) => {
    const proxy = await startProxy();
    const { page, server } = await startWriting(machine, browser(), {
      content: CONTENT,
      eventsPerSecond: SLOWLY,
      proxy,
      hasFakeClock: true,
    });
    await waitFor('some text', async () => (await textOf(page)).length > 5000);
    proxy.become('buffering');
    proxy.cut();
    const before = (await textOf(page)).length;
    await waitFor('the stream that is held back', async () => (await openStreams(server)) === 1);
    await page.clock.fastForward(7000);
    await waitFor('further text', async () => (await textOf(page)).length > before + 5000);
    expect(await openStreams(server)).toBe(0);
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    expect(CONTENT.startsWith(await textOf(page))).toBe(true);
  });
});

// Hazard: a view that is empty, still loading, refused or without its server says nothing, or loses what it had.
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';

import { missingBrowser, openPage, pageLink, useBrowser } from '../support/browser.ts';
import { serve } from '../support/serve.ts';
import { upload } from '../support/upload.ts';
import { passUntil, stopTime } from './support/page-time.ts';
import { fully } from './support/page-writes.ts';

const goTo = async (page: Page, view: string): Promise<void> => {
  await page.getByRole('navigation').getByRole('link', { name: view }).click();
  await page.getByRole('heading', { level: 1, name: view }).waitFor();
};

describe.skipIf(missingBrowser !== null)('the states of the views', () => {
  const browser = useBrowser();

  fully('empty: what would be here, and the command that makes it', async ({ machine }) => {
    const server = await serve(machine);
    const { page } = await openPage(browser(), pageLink(server));
    await page.getByRole('banner').getByText(machine.workspace).waitFor();
    for (const [view, words, command] of [
      ['Now', 'Nothing is running', 'orion run "Write a README for this project"'],
      ['Conversations', 'What you and a model say', 'orion run "Hello"'],
      ['Writes', 'Every write is finished', 'orion list-sessions'],
      ['Changes', 'Every file that Orion changes', 'orion undo'],
      ['Traces', 'What a turn did', 'orion trace list'],
      ['Plan', 'Choose a write plan', 'orion apply-plan plan.json'],
    ] as const) {
      await goTo(page, view);
      await page.getByText(words).waitFor();
      expect(await page.locator('main pre.command').allTextContents()).toEqual([command]);
    }
  });

  fully('loading and refused: the rest works, and old data stays', async ({ machine }) => {
    const server = await serve(machine);
    await upload(server, 'a.txt', 'text\n');
    const { page } = await openPage(browser(), pageLink(server), { hasFakeClock: true });
    await page.getByRole('link', { name: 'a.txt' }).waitFor();

    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/api/changes*', async (route) => {
      await asked;
      await route.continue();
    });
    await goTo(page, 'Changes');
    await page.getByText('Loading…').waitFor();
    answer();
    await page.getByText('Every file that Orion changes').waitFor();
    expect(await page.getByText('Loading…').count()).toBe(0);

    await goTo(page, 'Writes');
    await page.getByRole('link', { name: 'a.txt' }).waitFor();
    const error = { code: 'STORE_UNAVAILABLE', message: 'The store is away.', hint: 'Wait.' };
    await page.route('**/api/write-sessions', (route) =>
      route.fulfill({ status: 503, json: { error } }),
    );
    const problem = page.getByRole('group', { name: 'Error' });
    await problem.waitFor();
    expect(await problem.textContent()).toBe('STORE_UNAVAILABLE: The store is away.Wait.Try again');
    await page.getByText(/^As of \d\d:\d\d\.$/u).waitFor();
    await page.getByRole('link', { name: 'a.txt' }).waitFor();
    // Nothing is asked again by itself.
    await stopTime(page);
    await page.unroute('**/api/write-sessions');
    await problem.getByRole('button', { name: 'Try again' }).click();
    const isOver = async (): Promise<boolean> => (await problem.count()) === 0;
    await passUntil(page, 'the end of the error', isOver, { mostMs: 500, stepMs: 1 });
  });

  fully(
    'without its server: since when, how it is started, and everything again once it is back',
    async ({ machine }) => {
      const server = await serve(machine);
      await upload(server, 'a.txt', 'text\n');
      const { page } = await openPage(browser(), pageLink(server), { hasFakeClock: true });
      await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
      await goTo(page, 'Writes');
      await page.getByRole('link', { name: 'a.txt' }).waitFor();
      await stopTime(page);
      server.running.kill('SIGKILL');
      await server.running.finished;
      const line = page.getByRole('region', { name: 'No contact' });
      await passUntil(page, 'the loss', () => line.isVisible(), { mostMs: 6000, stepMs: 100 });
      await page.clock.runFor(2000);
      await expect
        .poll(() => line.textContent())
        .toMatch(/not answered for [1-9] s\. .*: orion serve/u);
      await expect.poll(() => line.textContent()).toMatch(/The next try is in [0-5] s\./u);
      // One line says it, not each part of the page.
      await expect.poll(() => page.getByText(/^As of/u).count()).toBe(1);
      expect(await page.getByRole('group', { name: 'Error' }).count()).toBe(0);
      expect(await page.getByRole('link', { name: 'a.txt' }).count()).toBe(1);
      // A view that does not ask again by itself.
      await goTo(page, 'Conversations');
      const refusal = page.getByText('The server does not answer.').first();
      await passUntil(page, 'the view without its server', () => refusal.isVisible());

      // Whoever does not want to wait asks at once: first whether it is the server of this log-in.
      const asked = page.waitForRequest('**/api/page/challenge');
      await line.getByRole('button', { name: 'Ask again now' }).click();
      await asked;
      await serve(machine, ['--port', String(server.port)]);
      const isBack = async (): Promise<boolean> => (await line.count()) === 0;
      await passUntil(page, 'the contact', isBack, { mostMs: 20_000, stepMs: 100 });
      const list = page.getByText('What you and a model say');
      await passUntil(page, 'the conversations', () => list.isVisible());
      expect(await page.getByRole('group', { name: 'Error' }).count()).toBe(0);
    },
  );
});

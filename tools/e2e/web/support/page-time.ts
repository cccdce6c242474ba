/** The time of a page; but for its frames, of one that was opened with a fake clock. */
import type { Page } from 'playwright-core';

import { waitFor } from '../../support/wait.ts';

/** What was to happen in the next frame has happened, too. */
export async function nextFrame(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}

/**
 * When everything but far text has been in the same place for three frames: what is measured when sizes change is drawn
 * in a later one.
 */
export async function layoutAtRest(page: Page): Promise<void> {
  let before = '';
  for (let still = 0; still < 3;) {
    await nextFrame(page);
    const places = await page.evaluate(() =>
      Array.from(document.querySelectorAll('main *:not([data-far] *)'), (element) => {
        const { top, height } = element.getBoundingClientRect();
        return `${top} ${height}`;
      }).join(),
    );
    still = places === before ? still + 1 : 0;
    before = places;
  }
}

/** From here on no time passes on the page, however long a test takes, but what `page.clock` is told. */
export async function stopTime(page: Page): Promise<void> {
  const stop = async (): Promise<void> =>
    page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1);
  // The clock stops, and then does not go back: time has passed while it was asked.
  await stop().catch(stop);
}

/**
 * Lets time pass on a page whose time stands still, step by step, until `check` holds, and at most so much. What does
 * not depend on that time, such as an answer of the server, may take as long as it takes.
 */
export async function passUntil(
  page: Page,
  what: string,
  check: () => boolean | Promise<boolean>,
  {
    mostMs = Number.POSITIVE_INFINITY,
    stepMs = 10,
  }: { readonly mostMs?: number; readonly stepMs?: number } = {},
): Promise<void> {
  let passed = 0;
  await waitFor(what, async () => {
    if (passed + stepMs <= mostMs) await page.clock.runFor(stepMs);
    passed += stepMs;
    return check();
  });
}

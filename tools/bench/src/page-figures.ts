/** What a browser says of a page. What runs in the page is text, since this package knows no document. */
import type { Browser, Page } from '@orion/e2e/chromium';

export type Frames = { readonly p99Ms: number; readonly busyShare: number };

const FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";

/** In a browser that has nothing of the page yet; usable is when a heading with this name is there. */
export async function firstPaint(
  browser: Browser,
  url: string,
  heading: string | null,
): Promise<{ readonly paintMs: number; readonly usableMs: number }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  let usableMs = Number.NaN;
  if (heading !== null) {
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    usableMs = await page.evaluate('performance.now()');
  }
  await page.evaluate(untilFrameOf(`${FIRST_PAINT} !== undefined`));
  const paintMs = await page.evaluate<number>(FIRST_PAINT);
  await context.close();
  return { paintMs, usableMs };
}

/** Frames of a page for so long, and which share of that its main thread used of a processor. */
export async function framesDuring(page: Page, milliseconds: number): Promise<Frames> {
  const used = await processorTime(page);
  const before = await used();
  const frames = await page.evaluate<number[]>(
    `new Promise((resolve) => {
      const frames = [];
      const began = performance.now();
      let last = began;
      const frame = (now) => {
        frames.push(now - last);
        last = now;
        if (now - began < ${milliseconds}) requestAnimationFrame(frame);
        else resolve(frames);
      };
      requestAnimationFrame(frame);
    })`,
  );
  const busyShare = ((await used()) - before) / milliseconds;
  const sorted = frames.toSorted((one, other) => one - other);
  return { p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN, busyShare };
}

/** The simplest page that could show a file: each piece of text is appended to the same element. */
export async function appendToPre(
  page: Page,
  {
    lines,
    everyMs,
    line,
  }: { readonly lines: number; readonly everyMs: number; readonly line: string },
): Promise<void> {
  await page.setContent('<div style="height: 600px; overflow: auto"><pre></pre></div>');
  await page.evaluate(
    `(() => {
      const pre = document.querySelector('pre');
      setInterval(() => {
        pre.append(${JSON.stringify(line.repeat(lines))});
        pre.parentElement.scrollTop = pre.parentElement.scrollHeight;
      }, ${everyMs});
    })()`,
  );
}

/**
 * From the begin of the navigation until a condition in the page holds at the end of a frame, and what the main thread
 * used of a processor meanwhile: on a busy machine only that is to be trusted.
 */
export async function openingTime(
  page: Page,
  url: string,
  condition: string,
): Promise<{ readonly ms: number; readonly processorMs: number }> {
  const used = await processorTime(page);
  await page.goto(url, { waitUntil: 'commit' });
  const ms = await page.evaluate<number>(untilFrameOf(condition));
  // Of the new document alone: its counters begin with it.
  return { ms, processorMs: await used() };
}

/** What the main thread of a page has used of a processor since its document began, in milliseconds. */
async function processorTime(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
    return seconds * 1000;
  };
}

/** From a key until the frame behind it. */
export function keyDelay(page: Page): Promise<number> {
  return page.evaluate(
    `new Promise((resolve) => requestAnimationFrame(() => {
      const began = performance.now();
      const target = document.querySelector('[role=treegrid], [data-live-text], main');
      target.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true, cancelable: true }));
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began), 0));
    }))`,
  );
}

/** Bytes that are left of JavaScript when garbage is collected, with all code that was compiled for it. */
export async function heldMemory(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  await devtools.detach();
  return usedSize;
}

/** Waits for a condition, frame by frame, and says when it held: the policy of the page allows no text in its own code. */
function untilFrameOf(condition: string): string {
  return `new Promise((resolve) => {
    const look = () =>
      ${condition} ? resolve(performance.now()) : requestAnimationFrame(look);
    look();
  })`;
}

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { formatTable, readCount } from '@orion/common';
import { launchChromium } from '@orion/e2e/chromium';
import { heldByPage } from '@orion/e2e/held-memory';
import type { Held } from '@orion/e2e/held-memory';
import { numbered, writeDocument } from '@orion/e2e/scripts';

import type { Goal } from './src/goals.ts';
import { lengthenConversation, lengthenTrace } from './src/long-records.ts';
import {
  appendToPre,
  firstPaint,
  framesDuring,
  heldMemory,
  keyDelay,
  openingTime,
} from './src/page-figures.ts';
import { startProvider } from './src/provider.ts';
import { formatGoals } from './src/report.ts';
import { startProgram } from './src/server-load.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '8' },
    turns: { type: 'string', default: '10' },
    only: { type: 'string', default: 'start,write,views,memory' },
  },
});
const runs = readCount('runs', values.runs, 1);
const seconds = readCount('seconds', values.seconds, 1);
const turns = readCount('turns', values.turns, 1);
const LINES_A_SECOND = 5000;
const EVENTS_A_SECOND = 50;
const TOKEN = 'a-token-of-the-measurement';
const command = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
const goals: Goal[] = [];
const rows: (readonly string[])[] = [['what', 'the page', 'its main thread', 'reference']];
const servers: (() => void)[] = [];
const browser = await launchChromium();
try {
  process.stdout.write(`Node ${process.version}, ${availableParallelism()} processors\n`);
  const parts = values.only.split(',');
  if (parts.includes('start')) await measureStart();
  if (parts.includes('write')) await measureWrite();
  if (parts.includes('views')) await measureLargeViews();
  if (parts.includes('memory')) await measureMemory();
  process.stdout.write(`${formatTable(rows)}\n\n${formatGoals(goals)}\n`);
} finally {
  await browser.close();
  for (const stop of servers) stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

function row(
  what: string,
  measured: number,
  unit: string,
  most: number,
  { reference, processorMs }: { readonly reference?: number; readonly processorMs?: number } = {},
): void {
  const text = (figure: number): string => `${figure.toFixed(figure < 10 ? 1 : 0)} ${unit}`;
  rows.push([
    what,
    text(measured),
    processorMs === undefined ? '' : `${processorMs.toFixed(0)} ms`,
    reference === undefined ? '' : text(reference),
  ]);
  goals.push({
    name: what,
    wanted: `at most ${most} ${unit}`,
    measured: text(measured),
    met: measured <= most,
  });
}

function median(figures: readonly number[]): number {
  return (
    figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? Number.NaN
  );
}

/** A server in a workspace of its own whose model writes this text. */
async function startServer(name: string, script: Parameters<typeof startProvider>[1]) {
  const cwd = join(folder, name);
  await mkdir(cwd);
  const provider = await startProvider(cwd, script);
  const { child, url } = await startProgram(
    [command, 'serve', '--port=0', '--model=scripted', `--base-url=${provider.url}`],
    {
      cwd,
      env: { HOME: cwd, ORION_SERVER_TOKEN: TOKEN, ORION_STOP_TOKENS: '1000000000' },
    },
  );
  const stop = (): void => {
    child.kill('SIGKILL');
    provider.close();
  };
  servers.push(stop);
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const ask = async <Answer>(path: string, body?: object): Promise<Answer> => {
    const asked = { headers: { ...headers, accept: 'application/json' } };
    const init =
      body === undefined ? asked : { ...asked, method: 'POST', body: JSON.stringify(body) };
    return (await (await fetch(`${url}${path}`, init)).json()) as Answer;
  };
  return {
    cwd,
    url,
    ask,
    /** A tab that has just logged in. */
    open: async () => {
      const { path } = await ask<{ readonly path: string }>('/api/page/links', {});
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${url}${path}`);
      await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
      return page;
    },
    link: async () => {
      const { path } = await ask<{ readonly path: string }>('/api/page/links', {});
      return `${url}${path}`;
    },
    begin: (content: string, conversationId: string) =>
      ask<{ readonly turnId: string; readonly requestId: string }>('/api/chat/messages', {
        content,
        conversationId,
      }),
    /** When the turn is over. */
    end: async (turnId: string): Promise<void> => {
      for (let after = '0'; ;) {
        const path = `/api/turns/${turnId}/events?wait=20&after=${after}`;
        const { next, done } = await ask<{ readonly next: string; readonly done: boolean }>(path);
        if (done) return;
        after = next;
      }
    },
    stop,
  };
}

/** First paint and first use of a tab whose browser has nothing of the page, beside an empty page of the same server. */
async function measureStart(): Promise<void> {
  progress('start');
  const server = await startServer('start', writeDocument({ target: 'a.md', content: 'a\n' }));
  const figures: { paint: number; usable: number; reference: number }[] = [];
  for (let run = 0; run < runs; run += 1) {
    const reference = await firstPaint(browser, `${server.url}/health/live`, null);
    const cold = await firstPaint(browser, await server.link(), 'Now');
    figures.push({ paint: cold.paintMs, usable: cold.usableMs, reference: reference.paintMs });
  }
  const of = (key: 'paint' | 'usable' | 'reference'): number =>
    median(figures.map((figure) => figure[key]));
  row('first paint, cold', of('paint'), 'ms', 500, { reference: of('reference') });
  row('usable, cold', of('usable'), 'ms', 1000, { reference: of('reference') });
  server.stop();
}

/** A file at 5,000 lines a second that somebody watches, beside a `<pre>` to which the same text is appended. */
async function measureWrite(): Promise<void> {
  progress('write');
  const content = numbered(
    'a line of a file that somebody watches',
    1,
    LINES_A_SECOND * (seconds + 6),
    6,
  );
  const lineLength = content.length / (LINES_A_SECOND * (seconds + 6));
  const shape = {
    chunk: Math.round((lineLength * LINES_A_SECOND) / EVENTS_A_SECOND),
    eventsPerSecond: EVENTS_A_SECOND,
  };
  const server = await startServer('write', writeDocument({ target: 'a.md', content }, { shape }));
  const page = await server.open();
  const { turnId } = await server.begin('Write it.', 'watched');
  await page.goto(`${server.url}/c/watched`);
  await page.getByRole('link', { name: 'a.md' }).click();
  await page.locator('[data-live-text]').first().waitFor();
  const watched = await framesDuring(page, seconds * 1000);
  await page.context().close();
  await server.end(turnId);
  server.stop();

  const plain = await (await browser.newContext()).newPage();
  await appendToPre(plain, {
    lines: LINES_A_SECOND / EVENTS_A_SECOND,
    everyMs: 1000 / EVENTS_A_SECOND,
    line: content.slice(0, lineLength),
  });
  const appended = await framesDuring(plain, seconds * 1000);
  row('5,000 lines/s: p99 frame', watched.p99Ms, 'ms', 34, { reference: appended.p99Ms });
  row('5,000 lines/s: main thread', watched.busyShare * 100, '%', 15, {
    reference: appended.busyShare * 100,
  });
  await plain.context().close();
}

/** A stored text, trace and conversation that are long, each opened in a tab that has the page. */
async function measureLargeViews(): Promise<void> {
  progress('large views');
  const server = await startServer('large', writeDocument({ target: 'a.md', content: 'one\n' }));
  const { turnId, requestId } = await server.begin('Write it.', 'long');
  await server.end(turnId);
  const lines = numbered('line', 1, 100_000);
  const { session_id: id } = await server.ask<{ readonly session_id: string }>(
    '/api/write-sessions',
    {
      intent: 'measure',
      target_file: 'large.txt',
      operation: 'create',
    },
  );
  await fetch(`${server.url}/api/write-sessions/${id}/content?offset=0`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
    body: lines,
  });
  // What is recorded of a turn is stored in batches.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  lengthenTrace(server.cwd, 10_000);
  lengthenConversation(server.cwd, 2000);
  const views = [
    [
      '100,000 lines',
      `/w/${id}`,
      `document.querySelectorAll('[data-live-text]').length === 400`,
      1500,
    ],
    [
      '10,000 events',
      `/t/${requestId}`,
      `Number(document.querySelector('[role=treegrid]')?.ariaRowCount) > 9000`,
      500,
    ],
    [
      '2,000 messages',
      '/c/long',
      `document.querySelector('textarea') !== null && document.querySelectorAll('.user').length > 100`,
      1000,
    ],
  ] as const;
  for (const [what, path, condition, most] of views) {
    const opened: { readonly ms: number; readonly processorMs: number }[] = [];
    let keyMs = 0;
    for (let run = 0; run < runs; run += 1) {
      const page = await server.open();
      opened.push(await openingTime(page, `${server.url}${path}`, condition));
      keyMs = Math.max(keyMs, await keyDelay(page));
      await page.context().close();
    }
    row(`${what}: open`, median(opened.map(({ ms }) => ms)), 'ms', most, {
      processorMs: median(opened.map(({ processorMs }) => processorMs)),
    });
    row(`${what}: a key, the slowest of ${runs}`, keyMs, 'ms', 50);
  }
  server.stop();
}

/** What a tab holds after files that it has watched, over what it held after the first one. */
async function measureMemory(): Promise<void> {
  progress('memory');
  const content = numbered('a line of a file that somebody watches', 1, 110_000, 6);
  const server = await startServer(
    'memory',
    writeDocument({ target: 'a.md', content }, { shape: { chunk: 32_000 } }),
  );
  const page = await server.open();
  const held: (Held & { readonly withCode: number })[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const { turnId } = await server.begin('Write it.', `turn-${turn}`);
    // As a link would lead there, without loading the page anew.
    await page.evaluate(`history.pushState(null, '', '/c/turn-${turn}')`);
    await page.getByRole('link', { name: 'a.md' }).first().click();
    await server.end(turnId);
    await page.getByRole('region', { name: 'Receipt' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Now' }).click();
    await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
    await rm(join(server.cwd, 'a.md'));
    held.push({ ...(await heldByPage(page)), withCode: await heldMemory(page) });
  }
  const metrics = await (
    await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
  ).text();
  const streams = Number(/^orion_event_streams\S* (\S+)$/mu.exec(metrics)?.[1]);
  const growth = (key: keyof (typeof held)[number]): number =>
    ((held.at(-1)?.[key] ?? Number.NaN) / (held[0]?.[key] ?? Number.NaN) - 1) * 100;
  row(`${turns} files of 5 MB: memory over the first`, growth('bytes'), '%', 10);
  row(`${turns} files of 5 MB: nodes over the first`, growth('nodes'), '%', 10);
  // The browser compiles what runs often, and compiles it again: no page decides about that.
  rows.push([
    `${turns} files of 5 MB: the same with compiled code`,
    `${growth('withCode').toFixed(1)} %`,
    '',
    '',
  ]);
  row(`${turns} files of 5 MB: streams that are open`, streams, 'streams', 0);
  server.stop();
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

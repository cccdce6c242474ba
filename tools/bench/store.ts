import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import type { Clock, TraceStore } from '@orion/contracts';
import { startPostgres } from '@orion/testkit';
import { createMemoryTraceStore, openStore } from '@orion/trace-store';

import { formatGoals } from './src/report.ts';
import { measureOpen } from './src/store-open.ts';
import { rateOfPlainDriver, rateOfRecording, rateOfStore } from './src/store-rates.ts';
import type { Rate } from './src/store-rates.ts';
import { formatOpen, formatRates, storeGoals } from './src/store-report.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    runs: { type: 'string', default: '5' },
    /** Where the figures go as JSON. */
    json: { type: 'string' },
  },
});
const BATCH = 100;
const events = Math.ceil(readCount('events', values.events) / BATCH) * BATCH;
const runs = readCount('runs', values.runs);

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
};

const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
const server = process.env['DATABASE_URL'] === undefined ? await startPostgres() : null;
const url = server?.url ?? process.env['DATABASE_URL'] ?? '';
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs of ${events} events: median (min-max)\n\n`,
  );
  const sqlite = openStore({ kind: 'sqlite', path: join(folder, 'store.db') }, { clock });
  const postgres = openStore({ kind: 'postgres', url }, { clock });
  const recording: Rate[] = [];
  const stored: { readonly sqlite: Rate[]; readonly postgres: Rate[] } = {
    sqlite: [],
    postgres: [],
  };
  const plain: Rate[] = [];
  // The first run warms everything up and is not counted.
  for (let run = 0; run <= runs; run += 1) {
    const first = run * events;
    const figures = {
      recording: await rateOfRecording(memoryStore(), events),
      sqlite: await rateOfStore(sqlite.traces, first, events),
      plain: await rateOfPlainDriver(url, first, events),
      postgres: await rateOfStore(postgres.traces, first, events),
    };
    if (run === 0) continue;
    recording.push(figures.recording);
    stored.sqlite.push(figures.sqlite);
    plain.push(figures.plain);
    stored.postgres.push(figures.postgres);
  }
  await checkCount(sqlite.traces);
  await checkCount(postgres.traces);
  await sqlite.close();
  await postgres.close();
  const result = { recording, plain, ...stored, open: await measureOpen(folder, runs * 3) };
  process.stdout.write(`${formatRates(result)}\n\n${formatOpen(result.open)}\n\n`);
  const goals = storeGoals(result);
  process.stdout.write(`${formatGoals(goals)}\n`);
  if (values.json !== undefined) {
    const figures = { version: 1, node: process.version, runs, events, ...result, goals };
    await writeFile(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  }
} finally {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
}

function memoryStore(): TraceStore {
  return createMemoryTraceStore({ clock, maxEvents: events });
}

/** The last turn is there, whole and in its order: a rate of lost events would be none. */
async function checkCount(traces: TraceStore): Promise<void> {
  const [last] = await traces.query({ limit: 1 });
  const turn = await traces.getTrace(last?.requestId ?? '');
  const whole = turn.every((event, index) => event.phaseIndex === index % 200);
  if (turn.length === 0 || turn.length % 200 !== 0 || !whole) throw new Error('Events are missing');
}

function readCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) {
    process.stderr.write(`--${name} wants whole numbers from 1, not ${text}\n`);
    process.exit(2);
  }
  return count;
}

import { systemClock } from '@orion/contracts';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import type { TraceStore } from '@orion/contracts';
import { startPostgres } from '@orion/testkit/postgres';
import { createMemoryTraceStore, openStore } from '@orion/trace-store';

import { startProvider } from './src/provider.ts';
import { formatGoals } from './src/report.ts';
import { benchScript } from './src/script.ts';
import { prepareConditions } from './src/store-conditions.ts';
import { measureOpen } from './src/store-open.ts';
import { rateOfPlainDriver, rateOfRecording, rateOfStore } from './src/store-rates.ts';
import type { Rate } from './src/store-rates.ts';
import { formatOpen, formatRates, formatTurns, storeGoals } from './src/store-report.ts';
import { measureTurns } from './src/store-turns.ts';
import type { TurnFigures } from './src/store-turns.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    runs: { type: 'string', default: '5' },
    /** Turns with the store in each condition, and how long the file is that each of them writes. */
    turns: { type: 'string', default: '15' },
    lines: { type: 'string', default: '20000' },
    /** Where the figures go as JSON. */
    json: { type: 'string' },
  },
});
const BATCH = 100;
const events = Math.ceil(readCount('events', values.events, 1) / BATCH) * BATCH;
const runs = readCount('runs', values.runs, 1);
const turns = readCount('turns', values.turns, 1);
const lines = readCount('lines', values.lines, 1);
const command = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));
await access(command);

const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
const server = process.env['DATABASE_URL'] === undefined ? await startPostgres() : null;
const url = server?.url ?? process.env['DATABASE_URL'] ?? '';
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs of ${events} events: median (min-max)\n\n`,
  );
  const sqlite = openStore(
    { kind: 'sqlite', path: join(folder, 'store.db') },
    { clock: systemClock },
  );
  const postgres = openStore({ kind: 'postgres', url }, { clock: systemClock });
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
  const open = await measureOpen(folder, runs * 3);
  const rates = { recording, plain, ...stored };
  process.stdout.write(`${formatRates(rates)}\n\n${formatOpen(open)}\n\n`);
  const result = { ...rates, open, turns: await compareTurns() };
  process.stdout.write(`${formatTurns(result.turns, { turns, lines })}\n\n`);
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

async function compareTurns(): Promise<readonly TurnFigures[]> {
  const prepared = await prepareConditions(url, folder, systemClock);
  const provider = await startProvider(folder, benchScript([lines], 'bulk'));
  try {
    for (const missing of prepared.missing) process.stdout.write(`not measured: ${missing}\n`);
    const { conditions } = prepared;
    return await measureTurns({ conditions, lines, rounds: turns, command, provider, folder });
  } finally {
    provider.close();
    await prepared.close();
  }
}

function memoryStore(): TraceStore {
  return createMemoryTraceStore({ clock: systemClock, maxEvents: events });
}

/** The last turn is there, whole and in its order: a rate of lost events would be none. */
async function checkCount(traces: TraceStore): Promise<void> {
  const [last] = await traces.query({ limit: 1 });
  const turn = await traces.getTrace(last?.requestId ?? '');
  const whole = turn.every((event, index) => event.phaseIndex === index % 200);
  if (turn.length === 0 || turn.length % 200 !== 0 || !whole) throw new Error('Events are missing');
}

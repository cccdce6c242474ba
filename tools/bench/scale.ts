import { access, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import { PostgresMeter } from './src/postgres-usage.ts';
import { formatGoals } from './src/report.ts';
import { measureLive } from './src/scale-live.ts';
import { measureQueues } from './src/scale-queue.ts';
import { measureAppends } from './src/scale-rates.ts';
import type { AppendCase } from './src/scale-rates.ts';
import { atPart, formatAppends, formatLive, formatQueues, scaleGoals } from './src/scale-report.ts';
import { startTokenProvider } from './src/server-load.ts';
import { spreadOf } from './src/statistics.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    /** Rows of each run. */
    rows: { type: 'string', default: '30000' },
    /** Turns that are followed, for how long, and events a second of each of them. */
    seconds: { type: 'string', default: '20' },
    turns: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '10' },
    /** Turns that each queue hands out. */
    messages: { type: 'string', default: '300' },
  },
});
const runs = readCount('runs', values.runs, 1);
const rows = readCount('rows', values.rows, 1);
const messages = readCount('messages', values.messages, 1);
const liveTask = {
  turns: readCount('turns', values.turns, 1),
  rate: readCount('rate', values.rate, 1),
  seconds: readCount('seconds', values.seconds, 1),
};
const CASES: readonly AppendCase[] = [
  ...[1, 10, 100, 300].map((group): AppendCase => ({ schema: 'as it is', group })),
  ...[1, 100].map((group): AppendCase => ({ schema: 'the first', group })),
];
const command = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));
await access(command);

const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
const postgres = await startPostgres();
const meter = await PostgresMeter.connect(postgres.url);
try {
  const machine = `Node ${process.version}, ${availableParallelism()} processors, ${await meter.versionAndSettings()}`;
  process.stdout.write(`${machine}, ${runs} runs of ${rows} rows: median (min-max)\n\n`);
  const appends = await measureAppends(CASES, {
    url: await databaseOf('appends'),
    runs,
    rows,
  });
  process.stdout.write(`${formatAppends(appends)}\n\n`);
  const live = await measureLive({ ...liveTask, url: await databaseOf('live') }, meter);
  process.stdout.write(`${formatLive(live)}\n\n`);
  const queues = await compareQueues();
  process.stdout.write(`${formatQueues(queues)}\n\n`);
  const goals = scaleGoals({ appends, live, queues });
  process.stdout.write(`${formatGoals(goals)}\n`);
  const line = {
    machine,
    appends: appends.map(({ rates, ...each }) => ({
      ...each,
      perSecond: spreadOf(rates.map((rate) => rate.perSecond)),
      cpuMicroseconds: spreadOf(rates.map((rate) => rate.cpuMicroseconds)),
      walBytes: spreadOf(rates.map((rate) => rate.walBytes)),
      tableBytes: spreadOf(rates.map((rate) => rate.tableBytes)),
    })),
    live,
    queues: Object.fromEntries(
      Object.entries(queues).map(([queue, delays]) => [
        queue,
        { p50: atPart(delays, 0.5), p99: atPart(delays, 0.99) },
      ]),
    ),
    goals,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
} finally {
  await meter.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

async function compareQueues(): ReturnType<typeof measureQueues> {
  const provider = await startTokenProvider();
  try {
    const options = { command, folder, provider: provider.url, turns: messages };
    return await measureQueues({
      ...options,
      databaseOf: (queue) => databaseOf(queue.replace('-', '_')),
    });
  } finally {
    provider.child.kill();
  }
}

async function databaseOf(name: string): Promise<string> {
  await meter.run(`create database bench_${name}`);
  const url = new URL(postgres.url);
  url.pathname = `/bench_${name}`;
  return url.href;
}

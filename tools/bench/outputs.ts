import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { createOrion } from '@orion/agent';
import type { OutputQuestion } from '@orion/agent';
import { formatTable, readCount } from '@orion/common';

import type { Goal } from './src/goals.ts';
import { formatGoals } from './src/report.ts';
import { formatSpread, spreadOf } from './src/statistics.ts';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '10' },
    runs: { type: 'string', default: '5' },
  },
});
const bytes = readCount('megabytes', values.megabytes, 1) * 1_000_000;
const runs = readCount('runs', values.runs, 1);

/** Runs of a build with their steps, as a server lists them. */
function madeDocument(size: number): string {
  const entries: string[] = [];
  for (let id = 0, length = 0; length < size; id += 1) {
    const entry = JSON.stringify({
      id,
      name: `run ${id}`,
      state: id % 7 === 0 ? 'failed' : 'passed',
      steps: [0, 1, 2].map((step) => ({ id: `${id}.${step}`, log: 'x'.repeat(80), ms: step * 7 })),
    });
    entries.push(entry);
    length += entry.length + 1;
  }
  return `{"runs":[${entries.join(',')}]}`;
}

type Measured = {
  readonly name: string;
  readonly question: Pick<OutputQuestion, 'operation' | 'arguments'>;
  /** Milliseconds, parsing included; none for what is only printed. */
  readonly goal?: number;
  readonly jq?: string;
};

const IDS = '$.runs[*].id';
const QUESTIONS: readonly Measured[] = [
  { name: 'stats', question: { operation: 'stats', arguments: {} }, goal: 500 },
  {
    name: `extract ${IDS}`,
    question: { operation: 'extract', arguments: { paths: [IDS] } },
    goal: 300,
    jq: '[.runs[].id]',
  },
  {
    name: `count ${IDS}`,
    question: { operation: 'count', arguments: { queries: [{ path: IDS, count: 'matches' }] } },
    goal: 300,
    jq: '[.runs[].id] | length',
  },
  {
    name: `sample ${IDS}`,
    question: { operation: 'sample', arguments: { path: IDS } },
    goal: 300,
  },
  {
    name: 'extract $..id',
    question: { operation: 'extract', arguments: { paths: ['$..id'] } },
    jq: '[.. | .id? // empty]',
  },
];

/** A regex that backtracks for longer than any question may take. */
const HOSTILE = '$.runs[?search(@.steps[0].log, "(x+)+(x+)+(x+)+$y")]';
const MAX_PAUSE_MS = 100;

const document = madeDocument(bytes);
const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
const file = join(folder, 'document.json');
await writeFile(file, document);
const hasJq = spawnSync('jq', ['--version']).status === 0;
const orion = await createOrion({ workspace: folder, store: 'memory' });
const ask = (question: Measured['question']): Promise<string> =>
  orion.askOutput({ ...question, document });
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs, ${document.length} bytes: median (min-max), ms\n\n`,
  );
  const rows = [
    ['question', 'orion', 'longest pause of its own thread', 'JSON.parse', 'jq, a process each'],
  ];
  const goals: Goal[] = [];
  for (const measured of QUESTIONS) {
    const { row, goal } = await rowOf(measured);
    rows.push(row);
    goals.push(...goal);
  }
  const { row, goal } = await besideHostile();
  rows.push(row);
  goals.push(goal);
  process.stdout.write(`${formatTable(rows)}\n\n${formatGoals(goals)}\n`);
} finally {
  await orion.close();
  await rm(folder, { recursive: true });
}

async function rowOf({
  name,
  question,
  goal: limit,
  jq,
}: Measured): Promise<{ readonly row: string[]; readonly goal: readonly Goal[] }> {
  const times: number[] = [];
  const pauses: number[] = [];
  const parses: number[] = [];
  const others: number[] = [];
  await ask(question);
  for (let run = 0; run < runs; run += 1) {
    const { time, pause } = await withPause(() => ask(question));
    times.push(time);
    pauses.push(pause);
    // What the machine can do at this moment.
    parses.push(timeOf(() => JSON.parse(document) as unknown));
    if (jq !== undefined && hasJq) others.push(timeOf(() => spawnSync('jq', [jq, file])));
  }
  const row = [name, ...[times, pauses, parses, others].map(formatTimes)];
  const { median } = spreadOf(times);
  if (limit === undefined) return { row, goal: [] };
  return { row, goal: [goalOf(`${name}, parsing included`, limit, median)] };
}

/** What a question and this thread notice of a hostile question that runs at the same time. */
async function besideHostile(): Promise<{ readonly row: string[]; readonly goal: Goal }> {
  const { question } = QUESTIONS[1] as Measured;
  const times: number[] = [];
  const hostile = ask({ operation: 'extract', arguments: { paths: [HOSTILE] } });
  let stopped = false;
  const watched = hostile.catch(() => {
    stopped = true;
  });
  const { pause } = await withPause(async () => {
    for (let run = 0; run < runs && !stopped; run += 1) {
      times.push((await withPause(() => ask(question))).time);
    }
    await watched;
  });
  return {
    row: [
      `extract ${IDS}, beside a hostile regex`,
      formatTimes(times),
      formatTimes([pause]),
      '-',
      '-',
    ],
    goal: goalOf('pause by a hostile regex until it is stopped', MAX_PAUSE_MS, pause),
  };
}

function goalOf(name: string, limit: number, milliseconds: number): Goal {
  return {
    name,
    wanted: `at most ${limit} ms`,
    measured: `${Math.round(milliseconds)} ms`,
    met: milliseconds <= limit,
  };
}

function formatTimes(times: readonly number[]): string {
  return times.length === 0 ? '-' : formatSpread(spreadOf(times), 0);
}

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** How long it took, and the longest time in which this thread did nothing else. */
async function withPause(
  work: () => Promise<unknown>,
): Promise<{ readonly time: number; readonly pause: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  await work();
  const time = performance.now() - start;
  // The pause before the answer counts, too.
  await nextTurn(2);
  delay.disable();
  return { time, pause: delay.max / 1e6 };
}

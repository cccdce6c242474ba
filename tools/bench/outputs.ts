import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { createOrion } from '@orion/agent';
import type { OutputQuestion } from '@orion/agent';
import { formatTable, readCount } from '@orion/common';

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

const document = madeDocument(bytes);
const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
const file = join(folder, 'document.json');
await writeFile(file, document);
const hasJq = spawnSync('jq', ['--version']).status === 0;
const orion = await createOrion({ workspace: folder, store: 'memory' });
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs, ${document.length} bytes: median (min-max), ms\n\n`,
  );
  const rows = [['question', 'orion', 'longest pause of its own thread', 'jq, a process each']];
  const goals = [];
  for (const { name, question, goal, jq } of QUESTIONS) {
    const times: number[] = [];
    const pauses: number[] = [];
    const others: number[] = [];
    await orion.askOutput({ ...question, document });
    for (let run = 0; run < runs; run += 1) {
      const { time, pause } = await measured(() => orion.askOutput({ ...question, document }));
      times.push(time);
      pauses.push(pause);
      if (jq !== undefined && hasJq) others.push(timeOf(() => spawnSync('jq', [jq, file])));
    }
    rows.push([
      name,
      formatSpread(spreadOf(times), 0),
      formatSpread(spreadOf(pauses), 0),
      others.length === 0 ? '-' : formatSpread(spreadOf(others), 0),
    ]);
    const { median } = spreadOf(times);
    if (goal !== undefined) {
      goals.push({
        name: `${name}, parsing included`,
        wanted: `at most ${goal} ms`,
        measured: `${Math.round(median)} ms`,
        met: median <= goal,
      });
    }
  }
  process.stdout.write(`${formatTable(rows)}\n\n${formatGoals(goals)}\n`);
} finally {
  await orion.close();
  await rm(folder, { recursive: true });
}

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** How long it took, and the longest time in which this thread did nothing else. */
async function measured(
  work: () => Promise<unknown>,
): Promise<{ readonly time: number; readonly pause: number }> {
  let last = performance.now();
  let pause = 0;
  const ticking = setInterval(() => {
    const now = performance.now();
    pause = Math.max(pause, now - last);
    last = now;
  }, 1);
  const start = performance.now();
  await work();
  clearInterval(ticking);
  return { time: performance.now() - start, pause };
}

import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';

import { compareSize } from './src/compare-sizes.ts';
import type { SizeResult } from './src/compare-sizes.ts';
import { compareStart } from './src/compare-start.ts';
import { goalsOf } from './src/goals.ts';
import { startProvider } from './src/provider.ts';
import { formatGoals, formatSizes, formatStart } from './src/report.ts';
import { benchScript } from './src/script.ts';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '200,2000,20000,100000' },
    runs: { type: 'string', default: '5' },
    /** Where the figures go as JSON. */
    json: { type: 'string' },
    /** Another build of the command. */
    command: { type: 'string' },
  },
});
const sizes = values.lines.split(',').map((text) => readCount('lines', text, 1));
const runs = readCount('runs', values.runs, 1);
const command =
  values.command === undefined
    ? fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url))
    : resolve(values.command);
const START_RUNS_PER_RUN = 3;

const MOST_RUNS_EVENT_BY_EVENT = 3;

await access(command);
const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
const bulk = await startProvider(folder, benchScript(sizes, 'bulk'));
const single = await startProvider(folder, benchScript(sizes, 'event by event'));
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs each: median (min-max)\n\n`,
  );
  const common = { runs, command, folder };
  const start = await compareStart({
    ...common,
    runs: runs * START_RUNS_PER_RUN,
    provider: bulk,
  });
  process.stdout.write(`${formatStart(start)}\n\n`);
  const results: SizeResult[] = [];
  for (const lines of sizes) {
    results.push(await compareSize({ ...common, lines, provider: bulk }));
  }
  process.stdout.write(`The stream in bulk\n${formatSizes(results)}\n\n`);
  const eventByEvent: SizeResult[] = [];
  for (const lines of sizes) {
    const fewRuns = Math.min(runs, MOST_RUNS_EVENT_BY_EVENT);
    eventByEvent.push(await compareSize({ ...common, lines, runs: fewRuns, provider: single }));
  }
  process.stdout.write(`The stream event by event\n${formatSizes(eventByEvent)}\n\n`);
  const result = { start, sizes: results, eventByEvent };
  const goals = goalsOf(result);
  process.stdout.write(`${formatGoals(goals)}\n`);
  if (values.json !== undefined) {
    const figures = { version: 1, node: process.version, runs, ...result, goals };
    await writeFile(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  }
} finally {
  bulk.close();
  single.close();
  await rm(folder, { recursive: true, force: true });
}

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { formatTable, readCount } from '@orion/common';

import { formatGoals } from './src/report.ts';
import { compareSearches, searchMemory } from './src/search-time.ts';
import { makeTree } from './src/search-tree.ts';
import { formatSpread } from './src/statistics.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '7' },
    /** Where the figures go as JSON. */
    json: { type: 'string' },
  },
});
const runs = readCount('runs', values.runs, 1);
const MIB = 1024 * 1024;
const WANTED_RATIO = 5;
const WANTED_GROWTH_MIB = 40;

const folder = await realpath(await mkdtemp(join(tmpdir(), 'orion-bench-')));
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs each: median (min-max)\n\n`,
  );
  const [large, small] = [join(folder, 'large'), join(folder, 'small')];
  await mkdir(large);
  await mkdir(small);
  await makeTree(large, 5000, 200 * MIB);
  await makeTree(small, 1250, 50 * MIB);
  const times = await compareSearches(large, folder, runs);
  process.stdout.write(
    `${formatTable([
      ['5,000 files, 200 MiB', 'lines', 'search_files ms', 'ripgrep ms', 'ratio'],
      ...times.map(({ pattern, ignoreCase, syntax, matches, orionMs, ripgrepMs, ratio }) => [
        `${syntax} ${pattern}${ignoreCase ? ' (any case)' : ''}`,
        String(matches),
        formatSpread(orionMs, 0),
        formatSpread(ripgrepMs, 0),
        formatSpread(ratio, 1),
      ]),
    ])}\n\n`,
  );
  const memory = {
    small: await searchMemory(small, folder),
    large: await searchMemory(large, folder),
  };
  const slowest = Math.max(...times.map(({ ratio }) => ratio.median));
  const growth = memory.large - memory.small;
  const goals = [
    {
      name: 'slowest search beside ripgrep',
      wanted: `at most ${WANTED_RATIO} times`,
      measured: `${slowest.toFixed(1)} times`,
      met: slowest <= WANTED_RATIO,
    },
    {
      name: 'peak memory of 200 MiB over 50 MiB',
      wanted: `at most ${WANTED_GROWTH_MIB} MB more`,
      measured: `${memory.large.toFixed(0)} - ${memory.small.toFixed(0)} MB`,
      met: growth <= WANTED_GROWTH_MIB,
    },
  ];
  process.stdout.write(`${formatGoals(goals)}\n`);
  if (values.json !== undefined) {
    const figures = { version: 1, node: process.version, runs, times, memory, goals };
    await writeFile(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

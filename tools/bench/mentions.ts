import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { createOrion } from '@orion/agent';
import { formatTable, readCount } from '@orion/common';
import { bestPaths, indexPaths } from '@orion/contracts';

import { formatGoals } from './src/report.ts';
import { formatSpread, spreadOf } from './src/statistics.ts';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '50000' },
    runs: { type: 'string', default: '20' },
  },
});
const count = readCount('files', values.files, 1);
const runs = readCount('runs', values.runs, 1);
const SHOWN = 20;
const GOAL_MS = 100;
/** Of one letter, of many files, of few, of letters that are apart, of none. */
const QUERIES = ['', 's', 'src/', 'file-49', 'pkg7src', 'no-such-file'];

const root = await mkdtemp(join(tmpdir(), 'orion-mentions-'));
const orion = await createOrion({ workspace: root, store: 'memory' });
try {
  for (let at = 0; at < count; at += 1) {
    const folder = join(root, `packages/pkg${at % 97}/src/part-${at % 13}`);
    if (at < 97 * 13) await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `file-${at}.ts`), '');
  }
  const listed = await timed(() => orion.listFiles());
  const { files } = listed.answer;
  const made = await timed(() => indexPaths(files));
  const rows = [['query', 'milliseconds']];
  const slowest: number[] = [];
  for (const query of QUERIES) {
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      times.push((await timed(() => bestPaths(made.answer, query, SHOWN))).time);
    }
    const spread = spreadOf(times);
    slowest.push(spread.max);
    rows.push([JSON.stringify(query), formatSpread(spread, 1)]);
  }
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${files.length} files, ${runs} runs: median (min-max)\n` +
      `first listing ${listed.time.toFixed(0)} ms, prepared in ${made.time.toFixed(0)} ms\n\n${formatTable(rows)}\n\n`,
  );
  const measured = Math.max(...slowest);
  const goal = {
    name: `the slowest query among ${files.length} files`,
    wanted: `at most ${GOAL_MS} ms`,
    measured: `${measured.toFixed(1)} ms`,
    met: measured <= GOAL_MS,
  };
  process.stdout.write(`${formatGoals([goal])}\n`);
} finally {
  await orion.close();
  await rm(root, { recursive: true });
}

async function timed<T>(
  run: () => T | Promise<T>,
): Promise<{ readonly answer: T; readonly time: number }> {
  const start = performance.now();
  const answer = await run();
  return { answer, time: performance.now() - start };
}

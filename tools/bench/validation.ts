import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import { systemClock } from '@orion/contracts';
import { createWorkspace } from '@orion/workspace';

import { formatGoals } from './src/report.ts';
import { measureMemory } from './src/validation-memory.ts';
import { formatMemory, formatTimes, validationGoals } from './src/validation-report.ts';
import { compareWrites } from './src/validation-time.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '61' },
    /** Where the figures go as JSON. */
    json: { type: 'string' },
  },
});
const runs = readCount('runs', values.runs, 1);
const WRITTEN_BYTES = 8 * 1024 * 1024;
const SIZES_MIB: readonly number[] = [8, 32, 63];

const folder = await realpath(await mkdtemp(join(tmpdir(), 'orion-bench-')));
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs each: median (min-max)\n\n`,
  );
  const workspace = await createWorkspace({ root: folder, clock: systemClock });
  const times = await compareWrites(workspace, WRITTEN_BYTES, runs);
  await workspace.close();
  process.stdout.write(`${formatTimes(times)}\n\n`);
  const memory = await measureMemory(folder, SIZES_MIB);
  process.stdout.write(`${formatMemory(memory)}\n\n`);
  const goals = validationGoals(times, memory);
  process.stdout.write(`${formatGoals(goals)}\n`);
  if (values.json !== undefined) {
    const figures = { version: 1, node: process.version, runs, times, memory, goals };
    await writeFile(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

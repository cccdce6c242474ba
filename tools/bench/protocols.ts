import { systemClock } from '@orion/contracts';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import { createAdapter } from '@orion/llm-adapters';
import { PROTOCOL_NAMES } from '@orion/protocols';

import { measureOverhead, overheadScript } from './src/protocol-overhead.ts';
import type { ChunkFlow } from './src/protocol-overhead.ts';
import { formatOverhead, formatTasks, protocolGoals } from './src/protocol-report.ts';
import { measureTask, taskScript } from './src/protocol-task.ts';
import type { TaskFigures } from './src/protocol-task.ts';
import { startProvider } from './src/provider.ts';
import { formatGoals } from './src/report.ts';

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '41' },
    /** Where the figures go as JSON. */
    json: { type: 'string' },
  },
});
const chunks = readCount('chunks', values.chunks, 1);
const runs = readCount('runs', values.runs, 1);

const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs of ${chunks} chunks: median (min-max)\n\n`,
  );
  const bulk = await overhead('bulk');
  const eventByEvent = await overhead('event by event');
  process.stdout.write(`${formatOverhead({ bulk, 'event by event': eventByEvent })}\n\n`);
  const tasks = await compareTasks();
  process.stdout.write(`${formatTasks(tasks)}\n\n`);
  const goals = protocolGoals({ bulk, eventByEvent });
  process.stdout.write(`${formatGoals(goals)}\n`);
  if (values.json !== undefined) {
    const figures = { version: 1, node: process.version, runs, chunks, bulk, eventByEvent, tasks };
    await writeFile(values.json, `${JSON.stringify({ ...figures, goals }, null, 2)}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function overhead(flow: ChunkFlow): ReturnType<typeof measureOverhead> {
  const provider = await startProvider(folder, overheadScript(chunks, flow));
  const adapter = await createAdapter({
    provider: 'openai',
    model: 'scripted',
    baseUrl: provider.url,
  });
  try {
    return await measureOverhead(adapter, systemClock, runs);
  } finally {
    await adapter.close();
    provider.close();
  }
}

async function compareTasks(): Promise<readonly TaskFigures[]> {
  const provider = await startProvider(folder, taskScript());
  const workspace = join(folder, 'workspace');
  await mkdir(workspace);
  try {
    const figures: TaskFigures[] = [];
    for (const protocol of PROTOCOL_NAMES) {
      figures.push(await measureTask(protocol, provider.url, workspace, runs));
    }
    return figures;
  } finally {
    provider.close();
  }
}

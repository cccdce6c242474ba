import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { formatTable, readCount } from '@orion/common';

import { DECODE_SHAPES, decodeWithAdapter, parseBarely, streamOf } from './src/decode-streams.ts';
import { formatGoals } from './src/report.ts';
import { formatSpread, spreadOf } from './src/statistics.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '200000' },
    runs: { type: 'string', default: '5' },
  },
});
const events = readCount('events', values.events, 1);
const runs = readCount('runs', values.runs, 1);
const WANTED = 200_000;

process.stdout.write(
  `Node ${process.version}, ${availableParallelism()} processors, ${runs} runs of ${events} events: median (min-max), in 1,000 events per second and core\n\n`,
);
const rows: string[][] = [['stream', 'MB', 'adapter', 'bare parser', 'ratio']];
const chat: number[] = [];
for (const shape of DECODE_SHAPES) {
  const stream = streamOf(shape, events);
  await decodeWithAdapter(shape, streamOf(shape, 2000));
  parseBarely(streamOf(shape, 2000));
  const ours: number[] = [];
  const bare: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    ours.push(await rateOf(() => decodeWithAdapter(shape, stream)));
    bare.push(
      await rateOf(() => {
        parseBarely(stream);
      }),
    );
  }
  const bytes = stream.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  rows.push([
    shape.name,
    (bytes / 1e6).toFixed(0),
    formatSpread(spreadOf(ours), 0),
    formatSpread(spreadOf(bare), 0),
    formatSpread(spreadOf(ours.map((rate, run) => rate / (bare[run] ?? 1))), 2),
  ]);
  if (shape.provider === 'openai') chat.push(spreadOf(ours).median);
}
process.stdout.write(`${formatTable(rows)}\n\n`);
const slowest = Math.min(...chat) * 1000;
process.stdout.write(
  `${formatGoals([
    {
      name: 'chat-completion events decoded, the slowest of the streams above',
      wanted: `at least ${WANTED} per second and core`,
      measured: `${Math.round(slowest)}`,
      met: slowest >= WANTED,
    },
  ])}\n`,
);

/** In thousands per second of processor time, so that other work on the machine does not count. */
async function rateOf(work: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (events * 1000) / (user + system);
}

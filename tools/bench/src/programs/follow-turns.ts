// Run by ../scale-live.ts: a reader for each of many turns, which another process appends to.
import { once } from 'node:events';

import { systemClock } from '@orion/contracts';
import { openStore } from '@orion/trace-store';

import { liveTurnIds } from '../scale-events.ts';
import type { Followed, LiveTask } from '../scale-live.ts';

/** Until all readers wait for something new. */
const SETTLE_MS = 1_000;

const task = JSON.parse(process.argv[2] ?? '') as LiveTask;
const store = openStore({ kind: 'postgres', url: task.url }, { clock: systemClock });
await once(process, 'message');
const delays: number[] = [];
let unordered = 0;
const reading = liveTurnIds(task).map(async (turnId) => {
  const after = { seq: 0, epoch: null };
  let lastSeq = 0;
  const news = store.turnLog.follow([{ turnId, after }], new AbortController().signal);
  for await (const one of news) {
    if (one.kind === 'reset' || one.entry.seq !== lastSeq + 1) unordered += 1;
    if (one.kind === 'reset') continue;
    const { seq, kind, data } = one.entry;
    lastSeq = seq;
    if (kind !== 'chunk') continue;
    const { content } = data as { readonly content: string };
    const came = Number(/^T([\d.]+);/u.exec(content)?.[1]);
    delays.push(performance.timeOrigin + performance.now() - came);
  }
});
await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
const cpu = process.cpuUsage();
process.send?.('ready');
await Promise.all(reading);
const used = process.cpuUsage(cpu);
delays.sort((one, other) => one - other);
const at = (part: number): number => delays[Math.floor(delays.length * part)] ?? Number.NaN;
const result: Followed = {
  events: delays.length,
  unordered,
  p50: at(0.5),
  p99: at(0.99),
  most: delays.at(-1) ?? Number.NaN,
  cpuMs: (used.user + used.system) / 1_000,
};
process.send?.(result);
await store.close();
process.disconnect?.();

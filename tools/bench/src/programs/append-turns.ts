// Run by ../scale-live.ts: appends to many turns at a rate, by groups, as a server does with what its turns say.
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import { systemClock } from '@orion/contracts';
import type { TurnAppend } from '@orion/contracts';
import { openStore } from '@orion/trace-store';

import { begin, liveTurnIds, textEvent } from '../scale-events.ts';
import type { Appended, LiveTask } from '../scale-live.ts';

/** From one flush to the next. */
const FLUSH_MS = 50;

const task = JSON.parse(process.argv[2] ?? '') as LiveTask;
const store = openStore({ kind: 'postgres', url: task.url }, { clock: systemClock });
const { turnLog } = store;
const claims = await begin(turnLog, liveTurnIds(task));
const turns = claims.map(({ turnId, epoch }) => ({ turnId, epoch, lastSeq: 0 }));
process.send?.('ready');
await once(process, 'message');

const cpu = process.cpuUsage();
const began = performance.now();
const each = task.seconds * task.rate;
/** When the event of that number came to be; turns do not all speak at once. */
const dueAt = (turn: number, seq: number): number =>
  began + ((seq - 1 + turn / task.turns) * 1_000) / task.rate;
const took: number[] = [];
for (let left = task.turns * each; left > 0;) {
  const flushAt = performance.now();
  const appends = turns.flatMap(({ turnId, epoch, lastSeq }, index): TurnAppend[] => {
    const events = [];
    for (let seq = lastSeq + 1; seq <= each && dueAt(index, seq) <= flushAt; seq += 1) {
      const came = performance.timeOrigin + dueAt(index, seq);
      events.push(textEvent(turnId, seq, `T${came.toFixed(1)}; and so on.`));
    }
    return events.length === 0 ? [] : [{ turnId, epoch, expectSeq: lastSeq + 1, events }];
  });
  if (appends.length > 0) {
    await append(appends);
    took.push(performance.now() - flushAt);
    left -= appends.reduce((sum, { events }) => sum + events.length, 0);
  }
  const rest = flushAt + FLUSH_MS - performance.now();
  if (rest > 0) await wait(rest);
}
await append(
  turns.map(({ turnId, epoch, lastSeq }) => ({
    turnId,
    epoch,
    expectSeq: lastSeq + 1,
    events: [{ seq: lastSeq + 1, kind: 'done', data: { status: 'complete' } }],
  })),
);
const used = process.cpuUsage(cpu);
took.sort((one, other) => one - other);
const result: Appended = {
  events: task.turns * each,
  statements: took.length,
  statementP99: took[Math.floor(took.length * 0.99)] ?? Number.NaN,
  cpuMs: (used.user + used.system) / 1_000,
};
process.send?.(result);
await store.close();
process.disconnect?.();

async function append(appends: readonly TurnAppend[]): Promise<void> {
  const outcomes = await turnLog.appendAll(appends);
  const ofTurn = new Map(turns.map((turn) => [turn.turnId, turn]));
  for (const [index, { turnId }] of appends.entries()) {
    const outcome = outcomes[index];
    const turn = ofTurn.get(turnId);
    if (outcome?.kind !== 'stored' || turn === undefined)
      throw new Error(`An event of ${turnId} was not stored`);
    turn.lastSeq = outcome.lastSeq;
  }
}

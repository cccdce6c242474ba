import type { Clock, RunEvent, TurnQueue } from '@orion/contracts';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

import { withinUnlessDefect } from './within.ts';

export type TurnCounts = {
  readonly running: () => number;
  readonly pendingApprovals: () => Promise<number>;
  readonly waiting: TurnQueue['waiting'];
  /** For how long readers of the turn log have been waiting for what is stored. */
  readonly readerLagMs: () => number;
};

/** What Prometheus reads of the turns of this process. The function it returns is told of each of their events. */
export function countTurns(
  registers: Registry[],
  counts: TurnCounts,
  clock: Clock,
): (event: RunEvent) => void {
  const ended = new Counter({
    name: 'orion_turns_total',
    help: 'Turns that ended here, by protocol and outcome.',
    labelNames: ['protocol', 'status'],
    registers,
  });
  const tokens = new Counter({
    name: 'orion_tokens_total',
    help: 'Tokens that providers reported.',
    labelNames: ['kind'],
    registers,
  });
  new Gauge({
    name: 'orion_turns',
    help: 'Turns that run here, and those that wait for a slot.',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'running' }, counts.running());
      this.set({ state: 'queued' }, counts.waiting().turns);
    },
  });
  new Gauge({
    name: 'orion_approvals_pending',
    help: 'Approvals that wait for a person.',
    registers,
    async collect() {
      const pending = await withinUnlessDefect(clock, () => counts.pendingApprovals());
      if (pending === 'unavailable') this.remove();
      else this.set(pending);
    },
  });
  new Gauge({
    name: 'orion_queue_lag_seconds',
    help: 'How long the first turn of the queue has been waiting; 0 if none waits.',
    registers,
    collect() {
      this.set(counts.waiting().oldestMs / 1000);
    },
  });
  new Gauge({
    name: 'orion_follower_lag_seconds',
    help: 'How long readers of turns have been waiting for events that are stored; 0 if they have them.',
    registers,
    collect() {
      this.set(counts.readerLagMs() / 1000);
    },
  });
  return (event) => {
    if (event.type === 'done') ended.inc({ protocol: event.protocol, status: event.status });
    if (event.type === 'usage') {
      tokens.inc({ kind: 'input' }, event.inputTokens);
      tokens.inc({ kind: 'output' }, event.outputTokens);
      tokens.inc({ kind: 'cached' }, event.cachedTokens);
      tokens.inc({ kind: 'reasoning' }, event.reasoningTokens);
    }
  };
}

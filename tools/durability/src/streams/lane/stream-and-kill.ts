import { setTimeout as wait } from 'node:timers/promises';

import { startSampler, withoutGuesses } from '../measure/samples.ts';
import type { Sample } from '../measure/samples.ts';
import type { KillPlan } from '../plan.ts';
import type { Ended, RunningCommand } from '../stage/command.ts';
import type { Relay, RelayedConnection } from '../stage/relay.ts';

/** The relay's events are random in time already; this is more than any run takes. */
const LONGEST_STREAM_MS = 30_000;

export type KillRequest = {
  readonly relay: Relay;
  readonly plan: KillPlan;
  readonly wireBytes: number;
  readonly start: () => RunningCommand;
};

export type Kill = {
  readonly ended: Ended;
  readonly killedAt: number;
  readonly samples: readonly Sample[];
  readonly connections: readonly RelayedConnection[];
};

/** Starts the command and kills it at its moment, or finds that it had ended before. */
export async function streamAndKill(request: KillRequest): Promise<Kill> {
  const { relay, plan, wireBytes } = request;
  const { moment } = plan;
  const due = whenDue(relay, plan, wireBytes);
  const command = request.start();
  const sampler = startSampler(command.pid, relay.port, () => relay.connections);
  let hasEnded = false;
  const ended = command.ended.finally(() => {
    hasEnded = true;
  });
  await Promise.race([
    due.then(() => wait(moment.afterMs)),
    ended,
    wait(LONGEST_STREAM_MS, undefined, { ref: false }),
  ]);
  sampler.take();
  const killedAt = performance.now();
  if (!hasEnded) process.kill(command.pid, 'SIGKILL');
  sampler.stop();
  // Those of the recovery come later.
  const connections = [...relay.connections];
  return { ended: await ended, killedAt, samples: withoutGuesses(sampler.samples), connections };
}

/** The call that begins the session, and the heads of both answers. */
const BEGIN_WIRE_BYTES = 3_000;

async function whenDue(relay: Relay, { moment }: KillPlan, wireBytes: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  switch (moment.kind) {
    case 'start':
      return;
    case 'stream':
      relay.onSend = (total) => {
        if (total >= BEGIN_WIRE_BYTES + moment.part * wireBytes) resolve();
      };
      break;
    case 'end': {
      let sent = 0;
      relay.onSend = (total) => {
        sent = total;
      };
      relay.onAnswerEnd = () => {
        // The end of the document, not of the call before it.
        if (sent > wireBytes / 2) resolve();
      };
      break;
    }
    default:
      moment satisfies never;
  }
  await promise;
}

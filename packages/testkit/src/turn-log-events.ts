import type { TurnLog, TurnLogEvent } from '@orion/contracts';
import type { FakeClock } from './fake-clock.ts';

/** Runs a test with a log and the id of a turn that no other test uses. */
export type WithTurnLog = (
  use: (log: TurnLog, turnId: string, clock: FakeClock) => Promise<void>,
) => Promise<void>;

/** Chunks numbered from `from` on. */
export function events(from: number, count: number): TurnLogEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: from + index,
    kind: 'chunk',
    data: { text: `text ${from + index}` },
  }));
}

export function done(seq: number): TurnLogEvent {
  return { seq, kind: 'done', data: {} };
}

import type { SessionView } from '../turn/turn-view.ts';

/** Three times what usually passes between two saves. */
const STILL_MS = 15_000;

/** Since when the disk has confirmed no more of a text, and how much of it there was then. */
export type Still = {
  readonly since: number;
  readonly synced: number;
  readonly received: number;
};

type Marks = Pick<SessionView, 'synced' | 'received'>;

export function stillSince({ synced, received }: Marks, now: number): Still {
  return { since: now, synced, received };
}

/** The same object while nothing happens, and while nothing more is confirmed of what is missing. */
export function nextStill(before: Still, marks: Marks, now: number): Still {
  const wasMissing = before.received > before.synced;
  const isSameText = wasMissing
    ? before.received <= marks.received
    : before.received === marks.received;
  return before.synced === marks.synced && isSameText ? before : stillSince(marks, now);
}

/** Text arrives, and for long the disk has confirmed none of it. */
export function isStandingStill(still: Still, { received }: Marks, now: number): boolean {
  return received > still.received && now - still.since >= STILL_MS;
}

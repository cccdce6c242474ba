/** Decides whether the owner of a session or lock is alive. Pure. */
import type { OwnerRecord } from './owner-record.ts';

/** An older heartbeat is no sign of life. */
export const LEASE_TTL_MS = 30_000;
export const HEARTBEAT_MS = 5_000;
/**
 * The clocks of two hosts may differ by this much. A time further ahead is no sign of life, because anyone can write
 * it.
 */
export const MAX_AHEAD_MS = 60_000;

export type ProcessSighting =
  | { readonly kind: 'running'; readonly startedAt: string }
  | { readonly kind: 'gone' }
  /** It is running, but its start time is unknown. */
  | { readonly kind: 'unknown' };

export type OwnerObservation =
  /** On the same host and in the same pid namespace, so the process table is conclusive. */
  | { readonly kind: 'here'; readonly process: ProcessSighting; readonly now: number }
  | { readonly kind: 'elsewhere'; readonly now: number };

/**
 * `dead` is proven. `presumed_dead` means only that the heartbeat stopped: a suspended process may still wake up and
 * write.
 */
export type OwnerVerdict = 'live' | 'dead' | 'presumed_dead';

export function judgeOwner(owner: OwnerRecord, seen: OwnerObservation): OwnerVerdict {
  if (owner.released === true) return 'dead';
  if (seen.kind === 'elsewhere') return judgeHeartbeat(owner, seen.now);
  switch (seen.process.kind) {
    case 'gone':
      return 'dead';
    case 'running':
      return seen.process.startedAt === owner.process_started_at ? 'live' : 'dead';
    case 'unknown':
      return judgeHeartbeat(owner, seen.now);
  }
}

function judgeHeartbeat(owner: OwnerRecord, now: number): OwnerVerdict {
  return isRecent(Date.parse(owner.heartbeat_at), now) ? 'live' : 'presumed_dead';
}

/** Whether a sign of life at that time still counts. */
export function isRecent(time: number, now: number): boolean {
  const age = now - time;
  return age >= -MAX_AHEAD_MS && age < LEASE_TTL_MS;
}

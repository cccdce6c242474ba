/** Whether the owner of a session or a lock is still there. Pure. */
import type { OwnerRecord } from './owner-record.ts';

/** A heartbeat older than this proves nothing any more. */
export const LEASE_TTL_MS = 30_000;
export const HEARTBEAT_MS = 5_000;
/** Clocks of two hosts may differ by so much. A time further ahead is no sign of life: anybody can write it. */
export const MAX_AHEAD_MS = 60_000;

export type ProcessSighting =
  | { readonly kind: 'running'; readonly startedAt: string }
  | { readonly kind: 'gone' }
  /** It runs, but when it started cannot be told. */
  | { readonly kind: 'unknown' };

export type OwnerObservation =
  /** Same host, same pid namespace: the process table tells. */
  | { readonly kind: 'here'; readonly process: ProcessSighting; readonly now: number }
  | { readonly kind: 'elsewhere'; readonly now: number };

/**
 * `dead` is proven; `presumed_dead` is only a heartbeat that stopped, behind which a suspended
 * process may still wake up and write.
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

/** Whether a sign of life of that time still counts. */
export function isRecent(time: number, now: number): boolean {
  const age = now - time;
  return age >= -MAX_AHEAD_MS && age < LEASE_TTL_MS;
}

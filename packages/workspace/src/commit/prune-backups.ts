/**
 * Drops backups by age and size.
 *
 * 1. The newest change of each workspace stays whole, and so does a plan in progress. A backup of an existing session
 *    stays, too, because it shows a recovery that the change was made. A change is dropped whole: what is left of one
 *    would be undone in part.
 * 2. Their number decides how long a count takes, so that it reads none that stays, and a full store is made roomy
 *    instead of being counted again at the next change.
 * 3. The age of what the store has is measured by the store; of what is here alone, by the time in its id. Somebody
 *    else's with a time that is yet to come is dropped: it would push out this user's own.
 */
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@orion/contracts';
import { removeIfOlder } from '../disk/directories.ts';
import { expired, fromNewest } from '../retention/retention.ts';
import type { Retained, RetentionLimits } from '../retention/retention.ts';
import { isSessionId } from '../state-directory.ts';
import type { StateDirectory } from '../state-directory.ts';
import type { AgedBackup, SharedBackups } from '../stored/shared-backups.ts';
import { changeMark, isBackupId, isDraft, timeOfBackup } from './backup-id.ts';
import type { BackupManifest } from './backup-manifest.ts';

const DRAFT_AGE_MS = 60 * 60 * 1000;
/** Changes that are made at the same time have times of their own, one after the other. */
const AHEAD_MS = 60_000;
/** The share of the size limit that is kept once it was exceeded. */
const ROOMY = 0.9;

export type PruneOptions = {
  readonly state: StateDirectory;
  readonly clock: Clock;
  readonly limits: RetentionLimits;
  /** What other hosts find, too. */
  readonly shared?: SharedBackups;
  /** Includes backups of other workspaces. Null if it is not valid; rejects if the disk reports an error. */
  readonly read: (id: string) => Promise<(BackupManifest & { readonly foreign: boolean }) | null>;
};

/** What decides whether a backup is needed. */
type Known = {
  readonly id: string;
  readonly root: string | undefined;
  readonly changeId: string | null;
  readonly foreign: boolean;
};

/** @returns the bytes that all the others keep */
export async function pruneBackups(options: PruneOptions): Promise<number> {
  const { state, clock, limits, shared } = options;
  const now = clock.now();
  const names = await state.directories(state.backups);
  // Left by a process that died while it created the backup, and without a note.
  for (const name of names.filter(isDraft))
    await removeIfOlder(join(state.backups, name), DRAFT_AGE_MS, now);
  const local = new Set(names.filter(isBackupId));
  const stored = (await shared?.all()) ?? new Map<string, AgedBackup>();
  const found: Retained[] = [];
  for (const name of new Set([...local, ...stored.keys()])) {
    const { manifest, ageMs } = stored.get(name) ?? {};
    const bytes = manifest?.before?.bytes ?? (await bytesOf(join(state.backups, name)));
    const since = ageMs === undefined ? await sinceOf(name, now, options) : now - ageMs;
    found.push({ name, since, bytes });
  }
  const entries = fromNewest(found);
  const isFull = sumOf(entries) > limits.maxBytes;
  const maxBytes = isFull ? limits.maxBytes * ROOMY : limits.maxBytes;
  const marks = new Set(expired(entries, { ...limits, maxBytes }, now).map(changeMark));
  const old = entries.map(({ name }) => name).filter((name) => marks.has(changeMark(name)));
  const dropped = new Set(await withoutNeeded(options, old, entries, local));
  for (const name of dropped) {
    await shared?.remove(name);
    await rm(join(state.backups, name), { recursive: true, force: true });
  }
  return sumOf(entries.filter(({ name }) => !dropped.has(name)));
}

/** In milliseconds since the epoch. */
async function sinceOf(id: string, now: number, { read }: PruneOptions): Promise<number> {
  const time = timeOfBackup(id);
  if (time <= now + AHEAD_MS) return time;
  try {
    const known = await read(id);
    return known === null || known.foreign ? 0 : now;
  } catch {
    // What cannot be read now may be needed.
    return now;
  }
}

/** @param entries all, newest first */
async function withoutNeeded(
  { state, shared, read }: PruneOptions,
  old: readonly string[],
  entries: readonly Retained[],
  local: ReadonlySet<string>,
): Promise<readonly string[]> {
  const look = async (id: string): Promise<Known | null> => {
    const manifest = await read(id);
    if (manifest === null) return null;
    const root = local.has(id) ? manifest.root : state.root;
    return { id, root, changeId: manifest.change_id ?? null, foreign: manifest.foreign };
  };
  const newest = new Map<string | undefined, Known>();
  const unseen = entries.map(({ name }) => name).toReversed();
  const newestOf = async (root: string | undefined): Promise<Known | undefined> => {
    while (!newest.has(root)) {
      const id = unseen.pop();
      if (id === undefined) break;
      const known = await look(id).catch(() => null);
      if (known !== null && !known.foreign && !newest.has(known.root))
        newest.set(known.root, known);
    }
    return newest.get(root);
  };
  const isNeeded = async ({ id, root, changeId }: Known): Promise<boolean> => {
    const last = await newestOf(root);
    if (id === last?.id || (changeId !== null && changeId === last?.changeId)) return true;
    return isOpen(state, shared, changeId);
  };
  const dropped: string[] = [];
  for (const id of old) {
    try {
      const known = await look(id);
      if (known === null || !(await isNeeded(known))) dropped.push(id);
    } catch {
      // What cannot be read now may be needed.
    }
  }
  return dropped;
}

/** Whether this is a plan in progress, or a session that a recovery may still settle. */
async function isOpen(
  state: StateDirectory,
  shared: SharedBackups | undefined,
  changeId: string | null,
): Promise<boolean> {
  if (changeId === null || !isSessionId(changeId)) return false;
  if ((await shared?.isOpen(changeId)) === true) return true;
  for (const parent of [state.plans, state.sessions, state.attic]) {
    if (await state.holds(join(parent, changeId))) return true;
  }
  return false;
}

async function bytesOf(backup: string): Promise<number> {
  try {
    return (await lstat(join(backup, 'content'))).size;
  } catch {
    return 0;
  }
}

function sumOf(entries: readonly Retained[]): number {
  return entries.reduce((total, { bytes }) => total + bytes, 0);
}

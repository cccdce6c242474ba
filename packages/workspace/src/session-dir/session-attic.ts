/**
 * The attic: sessions that are no longer continued, and text set aside from finished ones.
 *
 * A1. A session is claimed before it is moved to or dropped from the attic, because a recovery may be taking it at the
 *     same moment.
 * A2. Its age counts from its arrival. Entries beyond the limits of age and size are dropped.
 */
import type { Clock } from '@orion/contracts';
import { OrionError } from '@orion/contracts';
import { lstat, readdir, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../disk/directories.ts';
import { errnoOf, toDiskError } from '../disk/disk-error.ts';
import { isThere, replaceFile } from '../disk/files.ts';
import { leasePlace, replaceOwner } from '../ownership/ownership-file.ts';
import type { OwnerRecord } from '../ownership/owner-record.ts';
import type { TargetLocks } from '../ownership/target-locks.ts';
import { expired } from '../retention/retention.ts';
import { isSessionId } from '../state-directory.ts';
import type { StateDirectory } from '../state-directory.ts';
import { handBack, takeOver } from './session-claim.ts';
import type { Inspection } from './inspect-session.ts';
import type { SessionFinder } from './session-finder.ts';
import type { SessionStoreOptions } from './session-store-options.ts';

export class SessionAttic {
  readonly #options: SessionStoreOptions;
  readonly #locks: TargetLocks;
  readonly #finder: SessionFinder;

  constructor(options: SessionStoreOptions, locks: TargetLocks, finder: SessionFinder) {
    this.#options = options;
    this.#locks = locks;
    this.#finder = finder;
  }

  /** Returns the new location; null when another process was first. */
  async put(inspection: Inspection): Promise<string | null> {
    const { state, clock, observer } = this.#options;
    const owner = await takeOver(observer, inspection);
    if (owner === null) return null;
    try {
      await this.#freeLockOf(inspection, owner);
      await state.ensure(state.attic);
      const path = join(state.attic, inspection.id);
      const isTaken = await isThere(path);
      const attic = isTaken ? `${path}-${Math.floor(clock.now()).toString(36)}` : path;
      await replaceOwner(leasePlace(inspection.directory), { ...owner, released: true });
      await moveToAttic(state, clock, inspection.directory, attic);
      return attic;
    } catch (error) {
      await handBack(state, inspection, owner);
      throw toDiskError(error, 'move the write session to the attic');
    }
  }

  /** Releases the target lock of the session, unless another session holds it now. */
  async #freeLockOf(inspection: Inspection, owner: OwnerRecord): Promise<void> {
    const { metadata } = inspection;
    if (metadata === null) return;
    try {
      const { realPath, path } = metadata.target;
      if (!(await this.#locks.belongsTo(realPath, inspection.id))) return;
      const lock = await this.#locks.acquire(realPath, path, owner, inspection.id);
      await lock.release();
    } catch (error) {
      if (!OrionError.isInstance(error) && errnoOf(error) === null) throw error;
    }
  }

  async prune(): Promise<void> {
    const { state, attic, clock } = this.#options;
    const entries = [];
    for (const name of await this.#finder.namesIn(state.attic)) {
      if (!isSessionId(name.slice(0, 36))) continue;
      const stat = await lstat(join(state.attic, name)).catch(() => null);
      if (stat === null || !stat.isDirectory()) continue;
      const bytes = await sizeOf(join(state.attic, name));
      entries.push({ name, since: stat.mtimeMs, bytes });
    }
    for (const name of expired(entries, attic, clock.now())) await this.#drop(name);
  }

  async #drop(name: string): Promise<void> {
    const { state, onEvent, observer } = this.#options;
    const path = join(state.attic, name);
    const inspection = await this.#finder.inspect(path, name.slice(0, 36));
    if (inspection === null || inspection.status === 'live') return;
    if ((await takeOver(observer, inspection)) === null) return;
    const removed = join(state.attic, `.removed-${name}`);
    await rename(path, removed);
    await rm(removed, { recursive: true, force: true });
    onEvent('attic_dropped', {
      session_id: inspection.id,
      target_file: inspection.metadata?.target_file ?? null,
    });
  }
}

/** The owner record must already be marked as released. */
export async function moveToAttic(
  state: StateDirectory,
  clock: Pick<Clock, 'now'>,
  directory: string,
  attic: string,
): Promise<void> {
  const now = new Date(clock.now());
  await utimes(directory, now, now);
  await rename(directory, attic);
  await syncDirectory(state.attic);
  await syncDirectory(state.sessions);
}

/** Saves the text set aside from a finished session as one file. Returns its path. */
export async function keepTrailing(
  state: StateDirectory,
  clock: Pick<Clock, 'now'>,
  sessionId: string,
  text: AsyncIterable<Uint8Array>,
): Promise<string> {
  const directory = join(state.attic, sessionId);
  await state.ensure(directory);
  const path = join(directory, 'trailing.txt');
  await replaceFile(path, text);
  await syncDirectory(directory);
  const now = new Date(clock.now());
  await utimes(directory, now, now);
  return path;
}

async function sizeOf(directory: string): Promise<number> {
  let total = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const stat = await lstat(join(directory, name)).catch(() => null);
    total += stat?.isFile() === true ? stat.size : 0;
  }
  return total;
}

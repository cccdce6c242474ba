/**
 * At most one live write session per target, across all processes that share a state directory.
 *
 * L1. A lock carries the token of its session's lease. The lease shows whether the owner is alive.
 * L2. A lock of another host has no owner if neither it nor its lease has changed for an hour, whatever times they
 *     contain. Time is measured by the file system that stores it.
 * L3. If the lock file is missing, the target is free and only the name is taken. The lock of a dead owner is claimed,
 *     never just replaced.
 * L4. A lock without a session has no lease, so its holder renews the lock itself (`renew`).
 */
import { createHash } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OrionError } from '@orion/contracts';
import { isErrno } from '../disk/disk-error.ts';
import { createFile, isThere, readFields, removeIfThere, temporaryName } from '../disk/files.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { StateDirectory } from '../state-directory.ts';
import { judgeOwner } from './judge-owner.ts';
import {
  claimOwner,
  createOwner,
  findOwner,
  isAbandoned,
  leasePlace,
  lockPlace,
  replaceOwner,
} from './ownership-file.ts';
import type { OwnerRecord } from './owner-record.ts';
import type { ProcessObserver } from './process-identity.ts';

type LockRecord = OwnerRecord & { readonly session_id: string };

export type TargetLock = { release(): Promise<void> };

export type HeldLock = TargetLock & {
  /** Shows other hosts that the holder is alive. Returns false once the lock belongs to another process. */
  renew(): Promise<boolean>;
};

/** Locks a target for a change without a session. Rejects with TARGET_LOCKED. */
export type LockTarget = (realPath: string, path: string) => Promise<TargetLock>;

/** Other processes may take or release the lock between two checks. Each such change costs a round. */
const MAX_ROUNDS = 20;

/** A claim or temporary file of the lock named in the group. */
const LEFT_OVER = /^\.?([0-9a-f]{64})\.(?:claim-|[0-9a-f]+\.tmp$)/u;
const LEFT_OVER_AGE_MS = 60 * 60 * 1000;
const LOCK = /^[0-9a-f]{64}$/u;
const STALE_AGE_MS = 60 * 60 * 1000;
const NO_SESSION = '00000000-0000-4000-8000-000000000000';

export type TargetLocksOptions = {
  readonly state: StateDirectory;
  readonly observer: ProcessObserver;
  readonly root: string;
  readonly fileSystemNow?: FileSystemNow | undefined;
};

export class TargetLocks {
  readonly #options: TargetLocksOptions;
  readonly #state: StateDirectory;
  readonly #observer: ProcessObserver;
  #foldsCase: Promise<boolean> | null = null;

  constructor(options: TargetLocksOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#observer = options.observer;
  }

  /** The same name for all spellings of a target. */
  async keyOf(realPath: string): Promise<string> {
    this.#foldsCase ??= foldsCase(this.#options.root);
    const folded = (await this.#foldsCase) ? realPath.normalize('NFC').toLowerCase() : realPath;
    return createHash('sha256').update(folded).digest('hex');
  }

  /** Rejects with TARGET_LOCKED, or the system error if the disk cannot be used. */
  async acquire(
    realPath: string,
    path: string,
    owner: OwnerRecord,
    sessionId: string,
  ): Promise<HeldLock> {
    await this.#state.ensure(this.#state.locks);
    const place = lockPlace(join(this.#state.locks, await this.keyOf(realPath)));
    const record: LockRecord = { ...owner, session_id: sessionId };
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (await createOwner(place, record)) return this.#lockOf(place.file, record, null);
      const found = await findOwner(place);
      if (found.kind === 'incomplete') {
        const { now } = await this.#observer.observe(record);
        const isHeld = !isAbandoned(found.modifiedAt, now) && !(await this.#isStale(place.file));
        if (isHeld) throw await lockedBy(place.file, path);
      }
      // Released since the name was found taken. A claim beside a free name would not stop other processes from taking
      // it.
      if (found.kind !== 'incomplete' && !found.fileExists) continue;
      if (found.kind === 'owned') {
        await this.#requireDead(place.file, found.owner, path);
      }
      if (await claimOwner(place, found.token, record)) {
        return this.#lockOf(place.file, record, place.claimOf(found.token));
      }
    }
    throw await lockedBy(place.file, path);
  }

  /** Rejects with TARGET_LOCKED if somebody holds the target now. Writes no lock. */
  async requireFree(realPath: string, path: string): Promise<void> {
    const place = lockPlace(join(this.#state.locks, await this.keyOf(realPath)));
    const found = await findOwner(place);
    if (found.kind !== 'owned' || !found.fileExists) return;
    await this.#requireDead(place.file, found.owner, path);
  }

  /** Whether the target's lock belongs to this session. */
  async belongsTo(realPath: string, sessionId: string): Promise<boolean> {
    const file = join(this.#state.locks, await this.keyOf(realPath));
    return (await readSessionId(file)) === sessionId;
  }

  /**
   * Removes what processes left that died while they held, took or released a lock. The lock of a recoverable session
   * stays.
   */
  async sweep(): Promise<void> {
    const { locks } = this.#state;
    for (const name of await this.#state.names(locks).catch(() => [])) {
      if (LOCK.test(name)) await this.#releaseDead(join(locks, name));
    }
    const { now } = await this.#observer.observe(await this.#observer.newOwner());
    for (const name of await this.#state.names(locks).catch(() => [])) {
      const lock = LEFT_OVER.exec(name)?.[1];
      if (lock === undefined) continue;
      const [stat, held] = await Promise.all([
        lstat(join(locks, name)).catch(() => null),
        lstat(join(locks, lock)).catch(() => null),
      ]);
      // While the lock exists, a claim beside it may lead to its owner.
      const isClaim = !name.startsWith('.');
      if (stat === null || now - stat.mtimeMs < LEFT_OVER_AGE_MS || (isClaim && held)) continue;
      await removeIfThere(join(locks, name));
    }
  }

  /** Removes the locks described in L2, even those of existing sessions. Returns their number. */
  async removeStale(): Promise<number> {
    const { locks } = this.#state;
    let removed = 0;
    for (const name of await this.#state.names(locks).catch(() => [])) {
      if (!LOCK.test(name)) continue;
      const file = join(locks, name);
      const found = await lstat(file).catch(() => null);
      if (found === null) continue;
      if (!found.isFile()) {
        // Never written as a lock, but blocks one.
        await rm(file, { recursive: true, force: true });
        removed += 1;
      } else {
        const { token } = await findOwner(lockPlace(file));
        if ((await this.#isStale(file)) && (await this.#take(file, token))) removed += 1;
      }
    }
    return removed;
  }

  /** By L3, a process that takes the same lock in the meantime keeps it. */
  async #releaseDead(file: string): Promise<void> {
    const place = lockPlace(file);
    const found = await findOwner(place);
    if (found.kind !== 'owned' || !found.fileExists) return;
    if (await this.#isLive(file, found.owner)) return;
    const sessionId = await readSessionId(file);
    if (sessionId !== null && (await isThere(join(this.#state.sessions, sessionId)))) return;
    await this.#take(file, found.token);
  }

  /**
   * Takes and releases the lock of the owner with this token, who was found to be gone. Returns false if another process
   * was first, also one that took the lock since then: looking the owner up again would find that one.
   */
  async #take(file: string, token: string): Promise<boolean> {
    const place = lockPlace(file);
    const record: LockRecord = { ...(await this.#observer.newOwner()), session_id: NO_SESSION };
    if (!(await claimOwner(place, token, record))) return false;
    await this.#lockOf(file, record, place.claimOf(token)).release();
    return true;
  }

  #lockOf(file: string, record: LockRecord, wonClaim: string | null): HeldLock {
    const place = lockPlace(file);
    const isOurs = async (): Promise<boolean> => {
      const found = await findOwner(place);
      return found.kind === 'owned' && found.token === record.token;
    };
    return {
      renew: async () => {
        if (!(await isOurs())) return false;
        const { heartbeat_at } = await this.#observer.newOwner();
        await replaceOwner(place, { ...record, heartbeat_at });
        return true;
      },
      release: async () => {
        if (await isOurs()) await removeIfThere(file);
        if (wonClaim !== null) await removeIfThere(wonClaim);
      },
    };
  }

  /** L2. Claims count like the lock, because they may lead to its owner. */
  async #isStale(file: string): Promise<boolean> {
    const place = lockPlace(file);
    const found = await findOwner(place);
    if (found.kind === 'owned') {
      const seen = await this.#observer.observe(found.owner);
      if (seen.kind === 'here') return false;
    }
    const signs = [file, place.claimOf(found.token)];
    const sessionId = await readSessionId(file);
    if (sessionId !== null) signs.push(leasePlace(join(this.#state.sessions, sessionId)).file);
    const changed = await Promise.all(signs.map(changedAt));
    const tellNow = this.#options.fileSystemNow ?? fileSystemNow;
    const now = await tellNow(this.#state.locks).catch(() => null);
    return now !== null && now - Math.max(...changed) >= STALE_AGE_MS;
  }

  async #requireDead(file: string, owner: OwnerRecord, path: string): Promise<void> {
    if ((await this.#isLive(file, owner)) && !(await this.#isStale(file))) throw targetLocked(path);
  }

  async #isLive(file: string, owner: OwnerRecord): Promise<boolean> {
    const verdict = judgeOwner(owner, await this.#observer.observe(owner));
    if (verdict !== 'presumed_dead') return verdict === 'live';
    // The heartbeat is in the lease of the lock's session.
    const sessionId = await readSessionId(file);
    if (sessionId === null) return false;
    const lease = await findOwner(leasePlace(join(this.#state.sessions, sessionId)));
    if (lease.kind !== 'owned' || lease.token !== owner.token) return false;
    return judgeOwner(lease.owner, await this.#observer.observe(lease.owner)) === 'live';
  }
}

/** When the content or name last changed, by the file system; 0 if it does not exist. Programs cannot set this time. */
async function changedAt(path: string): Promise<number> {
  return lstat(path).then(
    (found) => found.ctimeMs,
    () => 0,
  );
}

/** The current time of a file system, which may be on another host with its own clock. */
export type FileSystemNow = (directory: string) => Promise<number>;

const fileSystemNow: FileSystemNow = async (directory) => {
  const path = temporaryName(join(directory, 'clock'));
  await createFile(path, new Uint8Array(0));
  try {
    return (await lstat(path)).ctimeMs;
  } finally {
    await removeIfThere(path).catch(() => undefined);
  }
};

async function readSessionId(file: string): Promise<string | null> {
  const id = (await readFields(file, 64 * 1024))?.['session_id'];
  return typeof id === 'string' && /^[0-9a-f-]{36}$/u.test(id) ? id : null;
}

export function targetLocked(path: string): OrionError {
  return new OrionError({
    code: 'TARGET_LOCKED',
    message: `Another write session holds ${shown(path)}.`,
  });
}

/** Anything but a file was never a lock, so no session will release it. */
async function lockedBy(file: string, path: string): Promise<OrionError> {
  const found = await lstat(file).catch(() => null);
  if (found === null || found.isFile()) return targetLocked(path);
  return new OrionError({
    code: 'TARGET_LOCKED',
    message: `The lock of ${shown(path)} cannot be taken. Something else has its name: ${file}`,
    hint: 'Remove it. Cleaning all sessions also removes it, together with every saved session.',
    details: { file },
  });
}

/** Whether the root is also found under its name in another case. */
async function foldsCase(root: string): Promise<boolean> {
  const name = basename(root);
  const swapped = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase();
  if (swapped === name) return process.platform === 'darwin' || process.platform === 'win32';
  try {
    const [one, other] = await Promise.all([lstat(root), lstat(join(dirname(root), swapped))]);
    return one.dev === other.dev && one.ino === other.ino;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    return process.platform === 'darwin' || process.platform === 'win32';
  }
}

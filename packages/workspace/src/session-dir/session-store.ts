/**
 * All sessions of a workspace: making, finding, taking over, clearing away.
 *
 * R1. A session that another process owns and that lives is never changed.
 * R2. Whoever changes an orphan has claimed it first; of several exactly one succeeds.
 * R3. Nothing of a person's text is deleted here but what the attic's limits drop.
 * R4. Names that are not ours are never touched, links are never followed, and one broken session
 *     never hides another.
 */
import { randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rm, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OrionError } from '@orion/contracts';
import type {
  ClaimedSession,
  CleanReport,
  Clock,
  SessionHandle,
  SessionListing,
  SessionMetadata,
  SessionStore,
  WritingOutcome,
  WritingRecord,
  TurnRecord,
} from '@orion/contracts';
import { hashPath } from '../commit/hash-file.ts';
import { removeTemporary } from '../commit/temporary-notes.ts';
import type { SettleBackup } from '../commit/temporary-notes.ts';
import { syncDirectory } from '../disk/directories.ts';
import { errnoOf, isErrno, toDiskError } from '../disk/disk-error.ts';
import {
  closeRead,
  openRegularFile,
  readRange,
  readSmallFile,
  removeIfThere,
  scanRange,
} from '../disk/files.ts';
import { LEASE_TTL_MS } from '../ownership/judge-owner.ts';
import { claimOwner, findOwner, leasePlace, replaceOwner } from '../ownership/ownership-file.ts';
import type { OwnerRecord } from '../ownership/owner-record.ts';
import type { ProcessObserver } from '../ownership/process-identity.ts';
import { targetLocked, TargetLocks } from '../ownership/target-locks.ts';
import type { FileSystemNow, TargetLock } from '../ownership/target-locks.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import { expired } from '../retention/retention.ts';
import type { RetentionLimits } from '../retention/retention.ts';
import { isSessionId } from '../state-directory.ts';
import type { StateDirectory } from '../state-directory.ts';
import { countLines, inspectSession, listingOf } from './inspect-session.ts';
import type { Inspection, Inspector } from './inspect-session.ts';
import { recoverContent } from './recover-content.ts';
import type { RecoveredContent } from './recover-content.ts';
import { readRescued, trailingIn } from './rescued-session.ts';
import { MAX_TURN_BYTES, numberedName, parseTurn } from './session-files.ts';
import { DiskSessionHandle, withoutHeader } from './session-handle.ts';
import type { EventSink } from './session-handle.ts';
import { SessionHome } from './session-home.ts';
import { asFarAs } from './session-key.ts';
import type { SessionKey } from './session-key.ts';
import type { TextSpool } from './text-spool.ts';

export type SessionStoreOptions = {
  readonly clock: Clock;
  readonly root: string;
  readonly state: StateDirectory;
  readonly policy: PathPolicy;
  readonly observer: ProcessObserver;
  readonly loadKey: () => Promise<SessionKey | null>;
  readonly maxSessionAgeMs: number;
  readonly attic: RetentionLimits;
  readonly onEvent: EventSink;
  /** What commits of dead processes left, and backups beyond their limits. */
  readonly sweepCommits: () => Promise<void>;
  readonly settleBackup: SettleBackup;
  /** Whether this backup tells that its change was made, once nothing else is left of it. */
  readonly provesChange: (backupId: string) => Promise<boolean>;
  /** For tests. */
  readonly fileSystemNow?: FileSystemNow;
};

/** Directories looked at together. */
const PARALLEL = 16;

type Moved = CleanReport['moved'][number];

export class DiskSessionStore implements SessionStore {
  readonly #options: SessionStoreOptions;
  readonly #locks: TargetLocks;
  readonly #open: Map<string, DiskSessionHandle> = new Map();
  /** Targets of open sessions, for those that have no lock because they live in memory. */
  readonly #targets: Map<string, string> = new Map();
  /** Rescued sessions that wait for their claim. */
  readonly #adopted: Map<string, ClaimedSession> = new Map();
  #key: Promise<SessionKey | null> | null = null;

  constructor(options: SessionStoreOptions) {
    this.#options = options;
    this.#locks = new TargetLocks(options);
  }

  async begin(metadata: SessionMetadata, turn: TurnRecord | null = null): Promise<SessionHandle> {
    if (!isSessionId(metadata.session_id)) throw new Error('a session id is a lower-case UUID v4');
    const owner = await this.#options.observer.newOwner();
    const realPath = metadata.target.realPath;
    const key = await this.#holdTarget(realPath, metadata.target.path, metadata.session_id);
    const handle = await this.#newHandle(metadata, realPath, key, owner);
    try {
      await handle.handle.start(turn);
    } catch (error) {
      this.#targets.delete(key);
      throw error;
    }
    this.#open.set(handle.handle.id, handle.handle);
    return handle.handle;
  }

  async list(): Promise<readonly SessionListing[]> {
    const inspections = await this.#inspectAll();
    const listings = await inParallel(inspections, (inspection) =>
      listingOf(inspection, this.#options.maxSessionAgeMs),
    );
    return listings.toSorted(
      (a, b) => a.age_ms - b.age_ms || (a.session_id < b.session_id ? -1 : 1),
    );
  }

  async readTurn(sessionId: string): Promise<TurnRecord | null> {
    const adopted = this.#adopted.get(sessionId);
    if (adopted !== undefined) return adopted.turn;
    try {
      const { status, directory } = await this.#find(sessionId);
      return status === 'foreign' ? null : await readTurn(directory);
    } catch (error) {
      if (OrionError.isInstance(error) || errnoOf(error) !== null) return null;
      throw error;
    }
  }

  async adopt(file: string): Promise<string> {
    const { state, policy } = this.#options;
    const path = resolve(file);
    const rescued = await readRescued(
      { key: await this.#loadKey(), isAboutHere: (root) => state.isAboutHere(root) },
      path,
    ).catch((error: unknown) => {
      throw toDiskError(error, 'read the rescued text');
    });
    // The part of it that its own directory may hold is older; in the attic it is out of the way.
    await this.discard(rescued.metadata.session_id).catch(() => undefined);
    const metadata = { ...rescued.metadata, session_id: randomUUID() };
    const target = await policy.contain(metadata.target.path).catch(() => null);
    const realPath = target?.realPath ?? metadata.target.realPath;
    const key = await this.#holdTarget(realPath, metadata.target.path, metadata.session_id);
    const owner = await this.#options.observer.newOwner();
    const { handle } = await this.#newHandle(metadata, realPath, key, owner);
    const { turn } = rescued;
    const record = rescued.state?.record ?? null;
    const writing = rescued.state?.writing ?? null;
    try {
      handle.resume({ record, turn, writing, rescuedIn: rescued.folder });
      await handle.start(turn);
      await appendFile(handle.content, path);
      await appendFile(handle.trailing, trailingIn(rescued.folder));
      if (record !== null) await handle.save(record).catch(() => undefined);
    } catch (error) {
      await handle.abandon();
      this.#targets.delete(key);
      throw toDiskError(error, 'recover the write session');
    }
    this.#open.set(handle.id, handle);
    this.#adopted.set(handle.id, { handle, record, turn, writing, notes: [] });
    return handle.id;
  }

  async claim(sessionId: string): Promise<ClaimedSession> {
    const adopted = this.#adopted.get(sessionId);
    if (adopted !== undefined) {
      this.#adopted.delete(sessionId);
      return adopted;
    }
    const inspection = await this.#find(sessionId);
    const { metadata } = inspection;
    if (inspection.status === 'live') throw sessionBusy(sessionId);
    if (inspection.status === 'damaged' || metadata === null) throw sessionDamaged(inspection);
    if (inspection.status === 'foreign') {
      throw sessionForeign(sessionId, (await this.#loadKey())?.problem ?? null);
    }
    const owner = await this.#takeOver(inspection);
    if (owner === null) throw sessionBusy(sessionId);
    try {
      return await this.#resume(inspection, metadata, owner);
    } catch (error) {
      await this.#handBack(inspection, owner);
      throw toDiskError(error, 'recover the write session');
    }
  }

  async discard(sessionId: string): Promise<{ readonly attic: string }> {
    const inspection = await this.#find(sessionId);
    if (inspection.status === 'live') throw sessionBusy(sessionId);
    if (inspection.directory.startsWith(this.#options.state.attic)) {
      return { attic: inspection.directory };
    }
    const attic = await this.#moveToAttic(inspection);
    if (attic === null) throw sessionBusy(sessionId);
    return { attic };
  }

  async clean(options: { readonly all: boolean }): Promise<CleanReport> {
    const moved: Moved[] = [];
    for (const inspection of await this.#inspectAll()) {
      // A foreign session is only ever moved by name: nobody here knows what it is.
      if (inspection.status === 'live' || inspection.status === 'foreign') continue;
      if (!options.all && inspection.ageMs < this.#options.maxSessionAgeMs) continue;
      const one = await this.#cleanOne(inspection);
      if (one !== null) moved.push(one);
    }
    const locks = options.all ? await this.#locks.removeStale() : 0;
    return { moved, bytes: moved.reduce((total, one) => total + one.bytes, 0), locks };
  }

  async *readContent(sessionId: string): AsyncGenerator<Uint8Array, void, undefined> {
    const open = this.#open.get(sessionId);
    if (open !== undefined) {
      yield* open.readContent();
      return;
    }
    const inspection = await this.#find(sessionId);
    if (inspection.content === null) return;
    const handle = await openRegularFile(join(inspection.directory, inspection.content.name));
    if (handle === null) return;
    try {
      yield* readRange(handle, 0);
    } catch (error) {
      throw toDiskError(error, 'read the saved text');
    } finally {
      await handle.close();
    }
  }

  async housekeep(): Promise<CleanReport> {
    const report = await this.clean({ all: false });
    for (const step of [
      (): Promise<void> => this.#removeLeftTemporaries(),
      (): Promise<void> => this.#removeLeftDirectories(),
      (): Promise<void> => this.#pruneAttic(),
      (): Promise<void> => this.#locks.sweep(),
      (): Promise<void> => this.#options.sweepCommits(),
    ]) {
      await step().catch((error: unknown) => this.#reportFailure(error));
    }
    return report;
  }

  async releaseAll(): Promise<void> {
    for (const handle of this.#open.values()) await handle.release();
  }

  /** Holds a target for a change that has no session; rejects with TARGET_LOCKED as `begin` does. */
  async lockTarget(realPath: string, path: string): Promise<TargetLock> {
    const holder = randomUUID();
    const key = await this.#holdTarget(realPath, path, holder);
    try {
      const owner = await this.#options.observer.newOwner();
      const lock = await this.#locks.acquire(realPath, path, owner, holder);
      return {
        release: async () => {
          this.#targets.delete(key);
          await lock.release();
        },
      };
    } catch (error) {
      this.#targets.delete(key);
      throw error;
    }
  }

  async #holdTarget(realPath: string, path: string, holder: string): Promise<string> {
    const key = await this.#locks.keyOf(realPath);
    if (this.#targets.has(key)) throw targetLocked(path);
    this.#targets.set(key, holder);
    return key;
  }

  async #newHandle(
    metadata: SessionMetadata,
    realPath: string,
    targetKey: string,
    owner: OwnerRecord,
  ): Promise<{ readonly handle: DiskSessionHandle; readonly home: SessionHome }> {
    const { clock, state, onEvent } = this.#options;
    const lost = new AbortController();
    const home = new SessionHome({
      clock,
      state,
      locks: this.#locks,
      key: await this.#loadKey(),
      metadata,
      targetRealPath: realPath,
      owner,
      onLost: () => {
        onEvent('lease_lost', { session_id: metadata.session_id });
        lost.abort(home.lostError());
      },
      onVanished: () => handle.forgetFiles(missingFiles()),
    });
    const handle: DiskSessionHandle = new DiskSessionHandle({
      clock,
      state,
      home,
      metadata,
      lost,
      onEvent,
      judgeWriting: async (writing) => {
        await this.#removeTemporary(writing);
        return this.#judgeWriting(metadata, writing);
      },
      onClosed: () => {
        this.#open.delete(metadata.session_id);
        this.#targets.delete(targetKey);
      },
    });
    return { handle, home };
  }

  /** Its temporary file is gone, so that the backup tells whether the change was made. */
  async #judgeWriting(metadata: SessionMetadata, writing: WritingRecord): Promise<WritingOutcome> {
    let found: string | null | undefined;
    try {
      const target = await this.#options.policy.contain(writing.target ?? metadata.target.path);
      found = (await hashPath(target.realPath))?.sha256 ?? null;
    } catch (error) {
      toDiskError(error, 'read the target');
    }
    if (found === writing.after) return 'after';
    if (writing.stands === true) return 'changed_after';
    if (found === writing.before) return 'before';
    const { backup_id: backupId } = writing.result;
    // Without a backup nobody knows; then nothing is done a second time.
    const isMade = backupId === undefined || (await this.#options.provesChange(backupId));
    return isMade ? 'changed_after' : 'changed_instead';
  }

  async #removeTemporary({ temp, result }: WritingRecord): Promise<void> {
    const { root, settleBackup } = this.#options;
    await removeTemporary(root, temp, async (didNotHappen) => {
      if (result.backup_id !== undefined) await settleBackup(result.backup_id, didNotHappen);
    });
  }

  /** The claim is won: from here on the directory is this process's alone. */
  async #resume(
    inspection: Inspection,
    metadata: SessionMetadata,
    owner: OwnerRecord,
  ): Promise<ClaimedSession> {
    const { state, policy } = this.#options;
    const target = await policy.contain(metadata.target.path).catch(() => null);
    const realPath = target?.realPath ?? metadata.target.realPath;
    const targetKey = await this.#holdTarget(realPath, metadata.target.path, metadata.session_id);
    let lock: TargetLock | null = null;
    let made: { readonly handle: DiskSessionHandle; readonly home: SessionHome } | null = null;
    try {
      lock = await this.#locks.acquire(realPath, metadata.target.path, owner, metadata.session_id);
      await this.#bringHome(inspection);
      const turn = await readTurn(join(state.sessions, inspection.id));
      made = await this.#newHandle(metadata, realPath, targetKey, owner);
      const { handle, home } = made;
      home.moveIn(lock);
      const notes = await this.#adoptTexts(inspection, handle);
      const saved = inspection.state;
      handle.resume({ record: saved?.record ?? null, turn, writing: saved?.writing ?? null });
      this.#open.set(handle.id, handle);
      if (saved?.writing) await this.#removeTemporary(saved.writing);
      return {
        handle,
        record: saved?.record ?? null,
        turn,
        writing: saved?.writing ?? null,
        notes: stateNotes(inspection).concat(notes),
      };
    } catch (error) {
      await made?.handle.abandon();
      this.#targets.delete(targetKey);
      await lock?.release().catch(() => undefined);
      throw error;
    }
  }

  async #adoptTexts(inspection: Inspection, handle: DiskSessionHandle): Promise<string[]> {
    const directory = handle.directory;
    const notes: string[] = [];
    const content = await this.#recoverContentOf(inspection, directory);
    if (content === null) {
      notes.push('There was no content file; the text is empty.');
      await handle.content.sync();
    } else {
      notes.push(...content.notes);
      handle.content.adopt(content, content.bytes, content.lineFeeds);
    }
    await adoptTrailing(handle, directory);
    const undecided = await setPendingAside(handle, directory);
    if (undecided > 0) {
      notes.push(`${undecided} bytes of undecided text were set aside in trailing.txt.`);
    }
    await syncDirectory(directory);
    await handle.content.confirmFile();
    const old = inspection.content?.name;
    if (content !== null && old !== undefined && content.path !== join(directory, old)) {
      await removeIfThere(join(directory, old));
    }
    return notes;
  }

  async #recoverContentOf(
    inspection: Inspection,
    directory: string,
  ): Promise<RecoveredContent | null> {
    const { content, state, owner, verdict } = inspection;
    if (content === null) return null;
    const here = (await this.#options.observer.identity()).startedAt;
    const there = owner.kind === 'owned' ? owner.owner.process_started_at : '';
    const copyTo =
      verdict === 'presumed_dead'
        ? join(directory, numberedName('content', content.number + 1))
        : null;
    if (copyTo !== null) await removeIfThere(copyTo);
    return recoverContent({
      path: join(directory, content.name),
      durableBytes: state?.contentFile === content.name ? state.bufferSize : 0,
      afterRestart: bootOf(here) !== bootOf(there),
      copyTo,
    });
  }

  /** A session in the attic moves back; its claim moves with it. */
  async #bringHome(inspection: Inspection): Promise<void> {
    const { state } = this.#options;
    const home = join(state.sessions, inspection.id);
    if (inspection.directory === home) return;
    await state.ensure(state.sessions);
    await rename(inspection.directory, home);
    await syncDirectory(state.sessions);
  }

  /** The new owner's record, or null when another process was first. */
  async #takeOver(inspection: Inspection): Promise<OwnerRecord | null> {
    const record = await this.#options.observer.newOwner();
    const { owner } = inspection;
    const token = owner.kind === 'owned' ? owner.owner.token : owner.token;
    try {
      const won = await claimOwner(leasePlace(inspection.directory), token, record);
      return won ? record : null;
    } catch (error) {
      // The winner has moved the directory away.
      if (isErrno(error, 'ENOENT')) return null;
      throw toDiskError(error, 'claim the write session');
    }
  }

  async #handBack(inspection: Inspection, owner: OwnerRecord): Promise<void> {
    const { state } = this.#options;
    for (const directory of [inspection.directory, join(state.sessions, inspection.id)]) {
      const place = leasePlace(directory);
      const found = await findOwner(place).catch(() => null);
      if (found?.kind !== 'owned' || found.owner.token !== owner.token) continue;
      await replaceOwner(place, { ...owner, released: true }).catch(() => undefined);
      return;
    }
  }

  async #cleanOne(inspection: Inspection): Promise<Moved | null> {
    try {
      const lines = await countLines(inspection);
      if ((await this.#moveToAttic(inspection)) === null) return null;
      const moved: Moved = {
        session_id: inspection.id,
        target_file: inspection.metadata?.target_file ?? null,
        bytes: inspection.content?.size ?? 0,
        lines,
      };
      this.#options.onEvent('cleaned', { ...moved });
      return moved;
    } catch (error) {
      this.#reportFailure(error);
      return null;
    }
  }

  /** Null when another process was first. */
  async #moveToAttic(inspection: Inspection): Promise<string | null> {
    const { state, clock } = this.#options;
    const owner = await this.#takeOver(inspection);
    if (owner === null) return null;
    try {
      await this.#freeLockOf(inspection, owner);
      await state.ensure(state.attic);
      const attic = await this.#freeAtticPath(inspection.id);
      await replaceOwner(leasePlace(inspection.directory), { ...owner, released: true });
      const now = new Date(clock.now());
      await utimes(inspection.directory, now, now);
      await rename(inspection.directory, attic);
      await syncDirectory(state.attic);
      await syncDirectory(state.sessions);
      return attic;
    } catch (error) {
      await this.#handBack(inspection, owner);
      throw toDiskError(error, 'move the write session to the attic');
    }
  }

  async #freeAtticPath(id: string): Promise<string> {
    const path = join(this.#options.state.attic, id);
    try {
      await lstat(path);
      return `${path}-${Math.floor(this.#options.clock.now()).toString(36)}`;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return path;
      throw error;
    }
  }

  /** The lock of a session that goes to the attic, unless another session has it now. */
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

  async #find(sessionId: string): Promise<Inspection> {
    if (isSessionId(sessionId)) {
      const { state } = this.#options;
      const inspector = await this.#inspector();
      for (const parent of [state.sessions, state.attic]) {
        if (!(await state.holds(parent).catch(() => false))) continue;
        const found = await inspectSession(inspector, join(parent, sessionId), sessionId);
        // Only what was set aside of a session that is done lies there without its content.
        const isRemainder = parent === state.attic && found?.content === null;
        if (found === null || isRemainder) continue;
        if (state.isAboutHere(found.root)) return found;
        throw sessionNotFound(sessionId, resolve(state.path, found.root ?? ''));
      }
    }
    throw sessionNotFound(sessionId, null);
  }

  async #inspectAll(): Promise<readonly Inspection[]> {
    const { state } = this.#options;
    const names = await this.#namesIn(state.sessions);
    const inspector = await this.#inspector();
    const inspections = await inParallel(names.filter(isSessionId), async (name) =>
      inspectSession(inspector, join(state.sessions, name), name).catch((error: unknown) => {
        this.#reportFailure(error);
        return null;
      }),
    );
    return inspections
      .filter((inspection) => inspection !== null)
      .filter(({ root }) => this.#options.state.isAboutHere(root));
  }

  /** A directory that cannot be read hides no other. */
  async #namesIn(directory: string): Promise<readonly string[]> {
    try {
      return await this.#options.state.names(directory);
    } catch (error) {
      if (errnoOf(error) !== null) return [];
      throw error;
    }
  }

  async #inspector(): Promise<Inspector> {
    return {
      observer: this.#options.observer,
      key: await this.#loadKey(),
      now: () => this.#options.clock.now(),
    };
  }

  #loadKey(): Promise<SessionKey | null> {
    this.#key ??= this.#options.loadKey();
    return this.#key;
  }

  async #removeLeftTemporaries(): Promise<void> {
    for (const inspection of await this.#inspectAll()) {
      const writing = inspection.state?.writing;
      if (writing && inspection.status === 'orphan') {
        await this.#removeTemporary(writing);
      }
    }
  }

  /** Directories that were being made or removed when their process died. */
  async #removeLeftDirectories(): Promise<void> {
    const { state, clock, observer } = this.#options;
    for (const parent of [state.sessions, state.attic]) {
      for (const name of await this.#namesIn(parent)) {
        const match = /^\.(?:new|removed)-(.+)$/u.exec(name);
        if (match === null || !isSessionId((match[1] ?? '').slice(0, 36))) continue;
        const path = join(parent, name);
        const stat = await lstat(path).catch(() => null);
        if (stat === null || !stat.isDirectory()) continue;
        if (name.startsWith('.new-')) {
          if (clock.now() - stat.mtimeMs < LEASE_TTL_MS) continue;
          const inspector = { observer, key: null, now: () => clock.now() };
          const found = await inspectSession(inspector, path, match[1] ?? '');
          if (found?.status === 'live' || found?.content) continue;
        }
        await rm(path, { recursive: true, force: true });
      }
    }
  }

  async #pruneAttic(): Promise<void> {
    const { state, attic, clock } = this.#options;
    const entries = [];
    for (const name of await this.#namesIn(state.attic)) {
      if (!isSessionId(name.slice(0, 36))) continue;
      const stat = await lstat(join(state.attic, name)).catch(() => null);
      if (stat === null || !stat.isDirectory()) continue;
      const bytes = await sizeOf(join(state.attic, name));
      entries.push({ name, since: stat.mtimeMs, bytes });
    }
    for (const name of expired(entries, attic, clock.now())) await this.#dropFromAttic(name);
  }

  /** Claimed like everything else: a recovery may be taking it out at this moment. */
  async #dropFromAttic(name: string): Promise<void> {
    const { state, onEvent } = this.#options;
    const path = join(state.attic, name);
    const inspector = await this.#inspector();
    const inspection = await inspectSession(inspector, path, name.slice(0, 36));
    if (inspection === null || inspection.status === 'live') return;
    if ((await this.#takeOver(inspection)) === null) return;
    const removed = join(state.attic, `.removed-${name}`);
    await rename(path, removed);
    await rm(removed, { recursive: true, force: true });
    onEvent('attic_dropped', {
      session_id: inspection.id,
      target_file: inspection.metadata?.target_file ?? null,
    });
  }

  #reportFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#options.onEvent('housekeeping_failed', { code: errnoOf(error), message });
  }
}

function stateNotes(inspection: Inspection): string[] {
  if (inspection.state === null) return ['state.json was missing or unreadable; it was rebuilt.'];
  if (inspection.state.recordIsDamaged) return ['state.json held no record of the session.'];
  return [];
}

async function appendFile(spool: TextSpool, path: string): Promise<void> {
  const file = await openRegularFile(path);
  if (file === null) return;
  try {
    for await (const chunk of scanRange(file, 0)) spool.appendBytes(chunk);
  } finally {
    await closeRead(file);
  }
}

/** `trailing.txt` is gone on with; it is text of a person, so nothing of it is cut off. */
async function adoptTrailing(handle: DiskSessionHandle, directory: string): Promise<void> {
  const path = join(directory, 'trailing.txt');
  const stat = await lstat(path).catch(() => null);
  if (stat === null || !stat.isFile()) return;
  const found = await recoverContent({
    path,
    durableBytes: stat.size,
    afterRestart: false,
    copyTo: null,
  });
  handle.trailing.adopt(found, found.bytes, found.lineFeeds);
}

/** Undecided text is never content: it joins what was set aside. */
async function setPendingAside(handle: DiskSessionHandle, directory: string): Promise<number> {
  const names = (await readdir(directory)).filter((name) => /^pending(?:\.\d+)?\.txt$/u.test(name));
  let bytes = 0;
  for (const name of names.toSorted()) {
    const file = await openRegularFile(join(directory, name));
    if (file === null) continue;
    try {
      for await (const chunk of withoutHeader(readRange(file, 0))) {
        handle.trailing.appendBytes(chunk);
        bytes += chunk.length;
      }
    } finally {
      await file.close();
    }
    if (bytes > 0) await handle.trailing.sync();
    await removeIfThere(join(directory, name));
  }
  return bytes;
}

function bootOf(startedAt: string): string {
  return startedAt.split(':')[0] ?? '';
}

async function sizeOf(directory: string): Promise<number> {
  let total = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const stat = await lstat(join(directory, name)).catch(() => null);
    total += stat?.isFile() === true ? stat.size : 0;
  }
  return total;
}

async function inParallel<T, R>(
  items: readonly T[],
  step: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += PARALLEL) {
    results.push(...(await Promise.all(items.slice(from, from + PARALLEL).map(step))));
  }
  return results;
}

function missingFiles(): Error {
  return Object.assign(new Error('the session directory was removed'), {
    errno: -2,
    code: 'ENOENT',
  });
}

/** `elsewhere`: the root of the workspace that has it. */
function sessionNotFound(sessionId: string, elsewhere: string | null): OrionError {
  return new OrionError({
    code: 'SESSION_NOT_FOUND',
    message: 'Session not found or expired. Please start a new write session.',
    ...(elsewhere === null ? {} : { hint: `It belongs to ${shown(elsewhere)}: recover it there.` }),
    details: { session_id: sessionId.slice(0, 64) },
  });
}

function sessionBusy(sessionId: string): OrionError {
  return new OrionError({
    code: 'SESSION_BUSY',
    message: `The write session ${sessionId} is in use by another process.`,
    details: { session_id: sessionId },
  });
}

function sessionDamaged(inspection: Inspection): OrionError {
  return new OrionError({
    code: 'SESSION_DAMAGED',
    message: `The write session ${inspection.id} is damaged: ${inspection.problem ?? 'unreadable'}.`,
    hint: copyOut(inspection.id),
    details: { session_id: inspection.id },
  });
}

/** `keyProblem`: why also what this user made is foreign. */
function sessionForeign(sessionId: string, keyProblem: string | null): OrionError {
  return new OrionError({
    code: 'SESSION_FOREIGN',
    message: `The write session ${sessionId} was not made by you here${asFarAs(keyProblem)}.`,
    hint: copyOut(sessionId),
    details: { session_id: sessionId },
  });
}

function copyOut(sessionId: string): string {
  return `Copy the text out with \`orion recover-session ${sessionId} --out saved.txt\`.`;
}

async function readTurn(directory: string): Promise<TurnRecord | null> {
  const file = await readSmallFile(join(directory, 'turn.json'), MAX_TURN_BYTES);
  return file.kind === 'text' ? parseTurn(file.text) : null;
}

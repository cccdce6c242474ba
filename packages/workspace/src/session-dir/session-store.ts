/**
 * Creates, finds, takes over and cleans up the sessions of a workspace.
 *
 * R1. A live session of another process is never changed.
 * R2. An orphan is claimed before it is changed. Of several processes, exactly one succeeds.
 * R3. A person's text is only deleted by the attic's limits.
 * R4. Files with other names are never touched, links are never followed, and a broken session never hides another.
 */
import { randomUUID } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { OrionError } from '@orion/contracts';
import type {
  ClaimedSession,
  CleanReport,
  SessionBytes,
  SessionHandle,
  SessionListing,
  SessionMetadata,
  SessionStore,
  TurnRecord,
} from '@orion/contracts';
import { syncDirectory } from '../disk/directories.ts';
import { errnoOf, onDisk, toDiskError } from '../disk/disk-error.ts';
import { streamFile } from '../disk/files.ts';
import type { OwnerRecord } from '../ownership/owner-record.ts';
import { startHeartbeat } from '../ownership/start-heartbeat.ts';
import { targetLocked, TargetLocks } from '../ownership/target-locks.ts';
import type { TargetLock } from '../ownership/target-locks.ts';
import { isSessionId } from '../state-directory.ts';
import { adoptTexts, appendFile } from './adopt-texts.ts';
import { countLines, isRecoverable, listingOf } from './inspect-session.ts';
import type { Inspection } from './inspect-session.ts';
import { removeLeftDirectories } from './left-overs.ts';
import { judgeWriting, removeTemporaryOf } from './recorded-writing.ts';
import { readRescued } from './rescued-session.ts';
import { SessionAttic } from './session-attic.ts';
import { handBack, takeOver } from './session-claim.ts';
import { sessionBusy, sessionDamaged, sessionForeign } from './session-errors.ts';
import { readTurn } from './session-files.ts';
import { SessionFinder } from './session-finder.ts';
import { DiskSessionHandle } from './session-handle.ts';
import type { ByteCounts } from './session-texts.ts';
import type { SessionStoreOptions } from './session-store-options.ts';

type Moved = CleanReport['moved'][number];

/** Damaged sessions moved per start. A repository may contain any number, and each move is synced. */
const DAMAGED_AT_A_START = 100;

export class DiskSessionStore implements SessionStore {
  readonly #options: SessionStoreOptions;
  readonly #locks: TargetLocks;
  readonly #finder: SessionFinder;
  readonly #attic: SessionAttic;
  readonly #open: Map<string, DiskSessionHandle> = new Map();
  /** Targets of open sessions. Sessions in memory have no lock. */
  readonly #targets: Set<string> = new Set();
  /** Rescued sessions that have not been claimed yet. */
  readonly #adopted: Map<string, ClaimedSession> = new Map();
  readonly #counts: ByteCounts = { saved: 0, synced: 0 };

  constructor(options: SessionStoreOptions) {
    this.#options = options;
    this.#locks = new TargetLocks(options);
    this.#finder = new SessionFinder(options, (error) => this.#reportFailure(error));
    this.#attic = new SessionAttic(options, this.#locks, this.#finder);
  }

  countBytes(): SessionBytes {
    return { ...this.#counts };
  }

  async begin(metadata: SessionMetadata, turn: TurnRecord | null = null): Promise<SessionHandle> {
    if (!isSessionId(metadata.session_id)) throw new Error('a session id is a lower-case UUID v4');
    const owner = await this.#options.observer.newOwner();
    const handle = await this.#newHandle(metadata, metadata.target.realPath, owner);
    await this.#openBy(handle, () => handle.start(turn));
    return handle;
  }

  /** Registers the session as open if `step` succeeds, and abandons it otherwise. */
  async #openBy(handle: DiskSessionHandle, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      await handle.abandon();
      throw error;
    }
    this.#open.set(handle.id, handle);
  }

  async list(
    which: 'all' | 'recoverable' = 'all',
    isWanted?: (sessionId: string) => boolean,
  ): Promise<readonly SessionListing[]> {
    const { maxSessionAgeMs } = this.#options;
    const all = which === 'all';
    const found = this.#finder.each(
      all ? ['own', 'foreign', 'damaged'] : ['own'],
      (inspection) =>
        all || isRecoverable(inspection, maxSessionAgeMs)
          ? listingOf(inspection, maxSessionAgeMs)
          : null,
      isWanted,
    );
    const listings: SessionListing[] = [];
    for await (const listing of found) if (listing !== null) listings.push(listing);
    return listings.toSorted(
      (a, b) => a.age_ms - b.age_ms || (a.session_id < b.session_id ? -1 : 1),
    );
  }

  async find(sessionId: string): Promise<SessionListing> {
    const found = await this.#finder.find(sessionId);
    const listing = await listingOf(found, this.#options.maxSessionAgeMs);
    const isHere = dirname(found.directory) === this.#options.state.sessions;
    return isHere ? listing : { ...listing, recoverable: false, discarded: true };
  }

  async readTurn(sessionId: string): Promise<TurnRecord | null> {
    const adopted = this.#adopted.get(sessionId);
    if (adopted !== undefined) return adopted.turn;
    try {
      const { status, directory } = await this.#finder.find(sessionId);
      return status === 'foreign' ? null : await readTurn(directory);
    } catch (error) {
      if (OrionError.isInstance(error) || errnoOf(error) !== null) return null;
      throw error;
    }
  }

  async adopt(file: string): Promise<string> {
    const { state, observer } = this.#options;
    const path = resolve(file);
    const key = await this.#options.loadKey();
    const rescued = await onDisk('read the rescued text', () => readRescued({ key, state }, path));
    // Its own directory may hold an older part of the text. Move that to the attic.
    await this.discard(rescued.metadata.session_id).catch(() => undefined);
    const metadata = { ...rescued.metadata, session_id: randomUUID() };
    const realPath = await this.#realPathOf(metadata);
    const handle = await this.#newHandle(metadata, realPath, await observer.newOwner());
    const { turn } = rescued;
    const { record = null, writing = null } = rescued.state ?? {};
    const recoveredAt = new Date(this.#options.clock.now()).toISOString();
    const found = { record, turn, writing, recoveredAt };
    await onDisk('recover the write session', () =>
      this.#openBy(handle, async () => {
        handle.resume(found, rescued.folder);
        await handle.start(turn);
        await appendFile(handle.texts.content, path);
        await appendFile(handle.texts.trailing, rescued.trailing);
        if (record !== null) await handle.save(record).catch(() => undefined);
      }),
    );
    this.#adopted.set(handle.id, { handle, ...found, notes: [] });
    return handle.id;
  }

  async claim(sessionId: string): Promise<ClaimedSession> {
    const adopted = this.#adopted.get(sessionId);
    if (adopted !== undefined) {
      this.#adopted.delete(sessionId);
      return adopted;
    }
    const inspection = await this.#finder.find(sessionId);
    const { metadata } = inspection;
    if (inspection.status === 'live') throw sessionBusy(sessionId);
    if (inspection.status === 'damaged' || metadata === null) throw sessionDamaged(inspection);
    if (inspection.status === 'foreign') {
      throw sessionForeign(sessionId, (await this.#options.loadKey())?.problem ?? null);
    }
    await this.#requireFreeTarget(metadata);
    const owner = await takeOver(this.#options.observer, inspection);
    if (owner === null) throw sessionBusy(sessionId);
    try {
      return await this.#resume(inspection, metadata, owner);
    } catch (error) {
      await handBack(this.#options.state, inspection, owner);
      throw toDiskError(error, 'recover the write session');
    }
  }

  async discard(sessionId: string): Promise<{ readonly attic: string }> {
    const inspection = await this.#finder.find(sessionId);
    if (inspection.status === 'live') throw sessionBusy(sessionId);
    if (inspection.directory.startsWith(this.#options.state.attic)) {
      return { attic: inspection.directory };
    }
    const attic = await this.#attic.put(inspection);
    if (attic === null) throw sessionBusy(sessionId);
    return { attic };
  }

  async clean(options: { readonly all: boolean }): Promise<CleanReport> {
    const minAgeMs = options.all ? 0 : this.#options.maxSessionAgeMs;
    const moved = await this.#moveAway(minAgeMs, Number.POSITIVE_INFINITY, async () => undefined);
    return reportOf(moved, options.all ? await this.#locks.removeStale() : 0);
  }

  async *readContent(
    sessionId: string,
    start: number = 0,
    end: number = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const open = this.#open.get(sessionId);
    if (open !== undefined) {
      yield* open.readContent(start, end);
      return;
    }
    const inspection = await this.#finder.find(sessionId);
    if (inspection.content === null) return;
    const path = join(inspection.directory, inspection.content.name);
    yield* streamFile(path, 'read the saved text', null, start, end);
  }

  async housekeep(): Promise<CleanReport> {
    // Removes the temporary file of a change that was recorded but may not have been made.
    const removeLeft = async ({ state, status }: Inspection): Promise<void> => {
      if (!state?.writing || status !== 'orphan') return;
      await removeTemporaryOf(this.#options, state.writing);
    };
    const { maxSessionAgeMs } = this.#options;
    const moved = await this.#moveAway(maxSessionAgeMs, DAMAGED_AT_A_START, removeLeft);
    for (const step of [
      (): Promise<void> => removeLeftDirectories(this.#finder, this.#options),
      (): Promise<void> => this.#attic.prune(),
      (): Promise<void> => this.#locks.sweep(),
      (): Promise<void> => this.#options.sweepCommits(),
    ]) {
      await step().catch((error: unknown) => this.#reportFailure(error));
    }
    return reportOf(moved, 0);
  }

  async releaseAll(): Promise<void> {
    for (const handle of this.#open.values()) await handle.release();
  }

  /** Locks a target for a change without a session. Rejects with TARGET_LOCKED like `begin`. */
  async lockTarget(realPath: string, path: string): Promise<TargetLock> {
    const key = await this.#holdTarget(realPath, path);
    try {
      const owner = await this.#options.observer.newOwner();
      const lock = await this.#locks.acquire(realPath, path, owner, randomUUID());
      const heartbeat = startHeartbeat(this.#options.clock, () => lock.renew());
      return {
        release: async () => {
          await heartbeat.stop();
          this.#targets.delete(key);
          await lock.release();
        },
      };
    } catch (error) {
      this.#targets.delete(key);
      throw error;
    }
  }

  async #holdTarget(realPath: string, path: string): Promise<string> {
    const key = await this.#locks.keyOf(realPath);
    if (this.#targets.has(key)) throw targetLocked(path);
    this.#targets.add(key);
    return key;
  }

  /** Before the session is taken over, which leaves files: whoever waits for the target asks again and again. */
  async #requireFreeTarget(metadata: SessionMetadata): Promise<void> {
    const realPath = await this.#realPathOf(metadata);
    try {
      await this.#locks.requireFree(realPath, metadata.target.path);
    } catch (error) {
      // Another process has recovered the session since it was looked up.
      const { session_id: id } = metadata;
      if (await this.#locks.belongsTo(realPath, id)) throw sessionBusy(id);
      throw error;
    }
  }

  /** The current location of its target, with links resolved. */
  async #realPathOf({ target }: SessionMetadata): Promise<string> {
    const found = await this.#options.policy.contain(target.path).catch(() => null);
    return found?.realPath ?? target.realPath;
  }

  /** The handle holds its target until it is closed or abandoned. */
  async #newHandle(
    metadata: SessionMetadata,
    realPath: string,
    owner: OwnerRecord,
  ): Promise<DiskSessionHandle> {
    const targetKey = await this.#holdTarget(realPath, metadata.target.path);
    return new DiskSessionHandle({
      ...this.#options,
      counts: this.#counts,
      locks: this.#locks,
      key: await this.#options.loadKey(),
      metadata,
      targetRealPath: realPath,
      owner,
      judgeWriting: (writing) => judgeWriting(this.#options, metadata, writing),
      onClosed: () => {
        this.#open.delete(metadata.session_id);
        this.#targets.delete(targetKey);
      },
    });
  }

  /** The claim succeeded: from here on the directory belongs to this process alone. */
  async #resume(
    inspection: Inspection,
    metadata: SessionMetadata,
    owner: OwnerRecord,
  ): Promise<ClaimedSession> {
    const { state, observer } = this.#options;
    const { path } = metadata.target;
    const realPath = await this.#realPathOf(metadata);
    const handle = await this.#newHandle(metadata, realPath, owner);
    const { record = null, writing = null } = inspection.state ?? {};
    const notes = stateNotes(inspection);
    let lock: TargetLock | null = null;
    let turn: TurnRecord | null = null;
    try {
      lock = await this.#locks.acquire(realPath, path, owner, metadata.session_id);
      await this.#bringHome(inspection);
      turn = await readTurn(join(state.sessions, inspection.id));
      handle.moveIn(lock);
      notes.push(...(await adoptTexts(observer, inspection, handle)));
      const recoveredAt = new Date(this.#options.clock.now()).toISOString();
      handle.resume({ record, turn, writing, recoveredAt });
      this.#open.set(handle.id, handle);
      if (writing !== null) await removeTemporaryOf(this.#options, writing);
    } catch (error) {
      await handle.abandon();
      await lock?.release().catch(() => undefined);
      throw error;
    }
    return { handle, record, turn, writing, notes };
  }

  /** Moves a session out of the attic, with its claim. */
  async #bringHome(inspection: Inspection): Promise<void> {
    const { state } = this.#options;
    const home = join(state.sessions, inspection.id);
    if (inspection.directory === home) return;
    await state.ensure(state.sessions);
    await rename(inspection.directory, home);
    await syncDirectory(state.sessions);
  }

  /** Moves all sessions but live ones to the attic. `keep` receives those that are too young. */
  async #moveAway(
    minAgeMs: number,
    maxDamaged: number,
    keep: (inspection: Inspection) => Promise<void>,
  ): Promise<readonly Moved[]> {
    let damaged = 0;
    const moved: Moved[] = [];
    // A foreign session is only moved by name, because its origin is unknown.
    for await (const inspection of this.#finder.each(['own', 'damaged'], (found) => found)) {
      if (inspection.status === 'live') continue;
      if (inspection.ageMs < minAgeMs) {
        await keep(inspection).catch((error: unknown) => this.#reportFailure(error));
        continue;
      }
      if (inspection.status === 'damaged' && (damaged += 1) > maxDamaged) continue;
      const one = await this.#cleanOne(inspection);
      if (one !== null) moved.push(one);
    }
    return moved;
  }

  async #cleanOne(inspection: Inspection): Promise<Moved | null> {
    try {
      const lines = await countLines(inspection);
      if ((await this.#attic.put(inspection)) === null) return null;
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

  #reportFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#options.onEvent('housekeeping_failed', { code: errnoOf(error), message });
  }
}

function reportOf(moved: readonly Moved[], locks: number): CleanReport {
  return { moved, bytes: moved.reduce((total, one) => total + one.bytes, 0), locks };
}

function stateNotes({ state }: Inspection): string[] {
  if (state === null) return ['state.json was missing or unreadable; it was rebuilt.'];
  return state.recordIsDamaged ? ['state.json held no record of the session.'] : [];
}

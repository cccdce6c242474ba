/**
 * The sessions of a workspace in a store that several processes share, on several hosts.
 *
 * R1. A session that has an owner is never changed by another process. The store decides who that is.
 * R2. A person's text is only removed by the limits of the attic, after it was put away.
 * R3. Rows are not of a repository: nothing in them is foreign.
 */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { OrionError, sleep } from '@orion/contracts';
import type {
  ClaimedContent,
  ClaimedSession,
  CleanReport,
  NewStoredSession,
  SessionBytes,
  SessionClaim,
  SessionContent,
  SessionHandle,
  SessionListing,
  SessionMetadata,
  SessionOwner,
  SessionStore,
  StoredSession as SessionRow,
  TurnFence,
  TurnRecord,
} from '@orion/contracts';
import { onDisk } from '../disk/disk-error.ts';
import { targetLocked, TargetLocks } from '../ownership/target-locks.ts';
import type { TargetLock } from '../ownership/target-locks.ts';
import { appendFile } from '../session-dir/adopt-texts.ts';
import { judgeWriting } from '../session-dir/recorded-writing.ts';
import { readRescued } from '../session-dir/rescued-session.ts';
import { SessionAttic } from '../session-dir/session-attic.ts';
import { sessionBusy, sessionNotFound } from '../session-dir/session-errors.ts';
import { formatState, parseTurn } from '../session-dir/session-files.ts';
import { SessionFinder } from '../session-dir/session-finder.ts';
import type { SessionStoreOptions } from '../session-dir/session-store-options.ts';
import type { ByteCounts } from '../session-dir/session-texts.ts';
import { isSessionId } from '../state-directory.ts';
import { repeated } from './repeated.ts';
import { SessionGroup } from './session-group.ts';
import { metadataBytes, StoredSession } from './stored-session.ts';
import { listingOf, readRow } from './session-row.ts';

/** Well within the time after which the store takes an owner for dead. */
const BEAT_MS = 3_000;
/** Longer than that time. */
const UNCONFIRMED_MS = 11_000;

export type StoredSessionStoreOptions = SessionStoreOptions & {
  /** Called at the first use. */
  readonly content: () => SessionContent;
};

export class StoredSessionStore implements SessionStore {
  readonly #options: StoredSessionStoreOptions;
  readonly #locks: TargetLocks;
  readonly #attic: SessionAttic;
  readonly #open: Map<string, StoredSession> = new Map();
  /** Changes without a session, by the id of their row. */
  readonly #changes: Map<string, SessionOwner> = new Map();
  /** Rescued sessions that have not been claimed yet. */
  readonly #adopted: Map<string, ClaimedSession> = new Map();
  readonly #counts: ByteCounts = { saved: 0, synced: 0 };
  #group: SessionGroup | null = null;
  #cancelBeat: (() => void) | null = null;
  #beating: Promise<void> | null = null;

  constructor(options: StoredSessionStoreOptions) {
    this.#options = options;
    this.#locks = new TargetLocks(options);
    const finder = new SessionFinder(options, (error) => this.#reportFailure(error));
    this.#attic = new SessionAttic(options, this.#locks, finder);
  }

  get #content(): SessionContent {
    return this.#options.content();
  }

  countBytes(): SessionBytes {
    return { ...this.#counts };
  }

  async begin(
    metadata: SessionMetadata,
    turn?: TurnRecord,
    fence?: TurnFence,
  ): Promise<SessionHandle> {
    if (!isSessionId(metadata.session_id)) throw new Error('a session id is a lower-case UUID v4');
    const { realPath } = metadata.target;
    return this.#begin(metadata, realPath, { turn: turn ?? null, fence: fence ?? null });
  }

  async list(
    which: 'all' | 'recoverable' = 'all',
    isWanted?: (sessionId: string) => boolean,
  ): Promise<readonly SessionListing[]> {
    const { root, maxSessionAgeMs } = this.#options;
    const wanted = isWanted && (await this.#content.ids(root)).filter((id) => isWanted(id));
    const rows = await this.#content.list(root, wanted);
    return rows
      .map((row) => listingOf(row, maxSessionAgeMs))
      .filter(({ recoverable }) => which === 'all' || recoverable)
      .toSorted((a, b) => a.age_ms - b.age_ms || (a.session_id < b.session_id ? -1 : 1));
  }

  async find(sessionId: string): Promise<SessionListing> {
    return listingOf(await this.#find(sessionId), this.#options.maxSessionAgeMs);
  }

  async readTurn(sessionId: string): Promise<TurnRecord | null> {
    const row = await this.#find(sessionId).catch((error: unknown) => {
      if (OrionError.isInstance(error) && error.code === 'SESSION_NOT_FOUND') return null;
      throw error;
    });
    const turn = row?.turn ?? null;
    return turn === null ? null : parseTurn(turn);
  }

  async adopt(file: string): Promise<string> {
    const { state, loadKey } = this.#options;
    const path = resolve(file);
    const key = await loadKey();
    const rescued = await onDisk('read the rescued text', () => readRescued({ key, state }, path));
    // The rows may hold an older part of the text.
    await this.discard(rescued.metadata.session_id).catch(() => undefined);
    const metadata = { ...rescued.metadata, session_id: randomUUID() };
    const { turn } = rescued;
    const { record = null, writing = null } = rescued.state ?? {};
    const realPath = await this.#realPathOf(metadata);
    const handle = await this.#begin(metadata, realPath, { turn, fence: null });
    const found = { record, turn, writing };
    try {
      handle.resume(found, rescued.folder);
      await onDisk('recover the write session', async () => {
        await appendFile(handle, path);
        const aside = { appendBytes: (bytes: Uint8Array) => handle.setBytesAside(bytes) };
        await appendFile(aside, rescued.trailing);
      });
      if (record !== null) await handle.save(record).catch(() => undefined);
    } catch (error) {
      await handle.release();
      throw error;
    }
    this.#adopted.set(handle.id, { handle, ...found, notes: [] });
    return handle.id;
  }

  async claim(sessionId: string, fence?: TurnFence): Promise<ClaimedSession> {
    const adopted = this.#adopted.get(sessionId);
    if (adopted !== undefined) {
      this.#adopted.delete(sessionId);
      return adopted;
    }
    const found = readRow(await this.#find(sessionId));
    if (found === null) throw damaged(sessionId);
    if (this.#open.has(sessionId)) throw sessionBusy(sessionId);
    const { root } = this.#options;
    const targetKey = await this.#locks.keyOf(await this.#realPathOf(found.metadata));
    const claimed = await this.#claimed({ sessionId, root, targetKey, fence: fence ?? null });
    if (claimed.kind === 'missing') throw sessionNotFound(sessionId, null);
    if (claimed.kind === 'busy') throw sessionBusy(sessionId);
    if (claimed.kind === 'held') throw targetLocked(found.metadata.target.path);
    const { owner, session } = claimed;
    try {
      return await this.#resume(owner, session);
    } catch (error) {
      await this.#content.release(owner).catch(() => undefined);
      throw error;
    }
  }

  async #claimed(claim: SessionClaim): Promise<ClaimedContent> {
    const { clock } = this.#options;
    let asked = 0;
    const ask = (): Promise<ClaimedContent> =>
      repeated(clock, () => {
        asked += 1;
        return this.#content.claim(claim);
      });
    const claimed = await ask();
    if (claimed.kind !== 'busy' || asked === 1 || claim.fence !== null) return claimed;
    // The answer that was lost may have said that it is this one's: nobody confirms that, and it passes.
    await sleep(clock, UNCONFIRMED_MS);
    return ask();
  }

  async discard(sessionId: string): Promise<{ readonly attic: string }> {
    const row = await this.#find(sessionId);
    const attic = { attic: listingOf(row, 0).session_dir };
    if (row.isPutAway) return attic;
    if (!(await this.#content.putAway(this.#options.root, sessionId, null))) {
      throw sessionBusy(sessionId);
    }
    return attic;
  }

  async clean({ all }: { readonly all: boolean }): Promise<CleanReport> {
    const { root, maxSessionAgeMs, onEvent } = this.#options;
    const moved: CleanReport['moved'][number][] = [];
    for (const row of await this.#content.list(root)) {
      if (row.isLive || (!all && row.ageMs < maxSessionAgeMs)) continue;
      if (!(await this.#content.putAway(root, row.sessionId, null))) continue;
      const { session_id, target_file, bytes, lines } = listingOf(row, maxSessionAgeMs);
      const one = { session_id, target_file, bytes, lines };
      moved.push(one);
      onEvent('cleaned', one);
    }
    return { moved, bytes: moved.reduce((total, { bytes }) => total + bytes, 0), locks: 0 };
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
    await this.#find(sessionId);
    yield* this.#content.read(sessionId, 'content', start, end);
  }

  async housekeep(): Promise<CleanReport> {
    const { root, attic, sweepCommits } = this.#options;
    const report = await this.clean({ all: false });
    for (const step of [
      (): Promise<void> => this.#content.forget(root, attic.maxAgeMs),
      (): Promise<void> => this.#attic.prune(),
      (): Promise<void> => sweepCommits(),
    ]) {
      await step().catch((error: unknown) => this.#reportFailure(error));
    }
    return report;
  }

  async releaseAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map((handle) => handle.release()));
    this.#stopBeat();
    await this.#beating;
  }

  /** Holds a target for a change without a session. Rejects with TARGET_LOCKED like `begin`. */
  async lockTarget(realPath: string, path: string): Promise<TargetLock> {
    const { root } = this.#options;
    const targetKey = await this.#locks.keyOf(realPath);
    const sessionId = randomUUID();
    const owner = await this.#content.begin({
      sessionId,
      root,
      targetKey,
      records: null,
      fence: null,
    });
    if (owner === null) throw targetLocked(path);
    this.#changes.set(sessionId, owner);
    this.#scheduleBeat();
    return {
      release: async () => {
        this.#changes.delete(sessionId);
        await this.#content.release(owner);
      },
    };
  }

  async #begin(
    metadata: SessionMetadata,
    realPath: string,
    { turn, fence }: { readonly turn: TurnRecord | null; readonly fence: TurnFence | null },
  ): Promise<StoredSession> {
    const { root, state, clock, loadKey } = this.#options;
    const session: NewStoredSession = {
      sessionId: metadata.session_id,
      root,
      targetKey: await this.#locks.keyOf(realPath),
      records: {
        metadata: metadataBytes({ key: await loadKey(), state, metadata }).toString('utf8'),
        state: formatState({
          record: null,
          bufferSize: 0,
          lineCount: 0,
          lastSave: new Date(clock.now()).toISOString(),
          contentFile: 'content.txt',
          writing: null,
        }),
        turn: turn === null ? null : JSON.stringify(turn),
      },
      fence,
    };
    const owner = await repeated(clock, () => this.#content.begin(session));
    if (owner === null) throw targetLocked(metadata.target.path);
    const handle = await this.#newHandle(metadata, owner, null);
    handle.resume({ record: null, turn, writing: null });
    return handle;
  }

  async #resume(owner: SessionOwner, row: SessionRow): Promise<ClaimedSession> {
    const found = readRow(row);
    if (found === null) throw damaged(row.sessionId);
    const { metadata, state, turn, writing } = found;
    const notes: string[] = [];
    if (state === null) notes.push('The stored state was unreadable; it was rebuilt.');
    else if (state.recordIsDamaged) notes.push('The stored state held no record of the session.');
    const record = state?.record ?? null;
    const handle = await this.#newHandle(metadata, owner, row);
    const recoveredAt = new Date(this.#options.clock.now()).toISOString();
    handle.resume({ record, turn, writing, recoveredAt });
    try {
      const undecided = await handle.setPendingAside();
      if (undecided > 0) notes.push(`${undecided} bytes of undecided text were set aside.`);
    } catch (error) {
      await handle.release();
      throw error;
    }
    return { handle, record, turn, writing, notes };
  }

  async #newHandle(
    metadata: SessionMetadata,
    owner: SessionOwner,
    row: SessionRow | null,
  ): Promise<StoredSession> {
    const { clock, root, state, onEvent, loadKey } = this.#options;
    const content = this.#content;
    this.#group ??= new SessionGroup(content, clock);
    const handle = new StoredSession(
      {
        clock,
        content,
        group: this.#group,
        root,
        state,
        key: await loadKey(),
        metadata,
        owner,
        counts: this.#counts,
        onEvent,
        judgeWriting: (writing) => judgeWriting(this.#options, metadata, writing),
        onClosed: () => void this.#open.delete(metadata.session_id),
      },
      row?.places ?? null,
      row?.lineFeeds ?? 0,
    );
    this.#open.set(handle.id, handle);
    this.#scheduleBeat();
    return handle;
  }

  /** Rejects with SESSION_NOT_FOUND. */
  async #find(sessionId: string): Promise<SessionRow> {
    const found = isSessionId(sessionId)
      ? await this.#content.find(this.#options.root, sessionId)
      : null;
    if (found === null) throw sessionNotFound(sessionId, null);
    return found;
  }

  /** The current location of its target, with links resolved. */
  async #realPathOf({ target }: SessionMetadata): Promise<string> {
    const found = await this.#options.policy.contain(target.path).catch(() => null);
    return found?.realPath ?? target.realPath;
  }

  #scheduleBeat(): void {
    if (this.#open.size === 0 && this.#changes.size === 0) return;
    this.#cancelBeat ??= this.#options.clock.schedule(BEAT_MS, () => {
      this.#beating = this.#beat().finally(() => {
        this.#cancelBeat = null;
        this.#scheduleBeat();
      });
    });
  }

  #stopBeat(): void {
    this.#cancelBeat?.();
    this.#cancelBeat = null;
  }

  /** Never rejects: a store that is away takes no session. */
  async #beat(): Promise<void> {
    const owners = [...this.#open.values()].map(({ owner }) => owner);
    const lost = await this.#content
      .confirm([...owners, ...this.#changes.values()])
      .catch(() => []);
    for (const { sessionId, epoch } of lost) {
      const handle = this.#open.get(sessionId);
      if (handle?.owner.epoch === epoch) handle.lose();
    }
  }

  #reportFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#options.onEvent('housekeeping_failed', { code: null, message });
  }
}

function damaged(sessionId: string): OrionError {
  return new OrionError({
    code: 'SESSION_DAMAGED',
    message: `The write session ${sessionId} is damaged: its stored records cannot be read.`,
    hint: `Copy the text of session ${sessionId} out.`,
    details: { session_id: sessionId },
  });
}

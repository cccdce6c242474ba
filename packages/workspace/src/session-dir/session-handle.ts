/**
 * A session that this process owns: its text and records, and how it handles disk failures.
 *
 * E1. The content that `state.json` covers is durable before `state.json` is written.
 * E2. Disk operations on the records run one at a time. Saves requested while one is running share the next one, which
 *     writes the latest record.
 * E3. No disk failure ends the session. It lives in memory until a `save` succeeds.
 * E4. Nothing is written after the session was lost to another process.
 */
import { unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { defined, OrionError } from '@orion/contracts';
import type {
  ClaimedSession,
  SaveResult,
  SessionHandle,
  SessionMetadata,
  SessionRecord,
  TurnRecord,
  WritingOutcome,
  WritingRecord,
} from '@orion/contracts';
import { syncDirectory } from '../disk/directories.ts';
import { errnoOf, onDisk, toDiskError } from '../disk/disk-error.ts';
import { jsonBytes } from '../disk/files.ts';
import type { TargetLock } from '../ownership/target-locks.ts';
import { removeRescued, writeRescued } from './rescued-session.ts';
import { SessionHome } from './session-home.ts';
import type { SessionHomeOptions } from './session-home.ts';
import { keepTrailing, moveToAttic } from './session-attic.ts';
import { formatState, numberedName } from './session-files.ts';
import type { StoredContent } from './session-files.ts';
import { decodePending, SessionTexts } from './session-texts.ts';
import type { ByteCounts } from './session-texts.ts';

export type HandleOptions = SessionHomeOptions & {
  /** Of all sessions of the store. */
  readonly counts: ByteCounts;
  /** Determines the outcome of a recorded commit from the target's bytes. */
  readonly judgeWriting: (writing: WritingRecord) => Promise<WritingOutcome>;
  /** Called when the session no longer belongs to this process. */
  readonly onClosed: () => void;
};

export type RecoveredSession = Pick<ClaimedSession, 'record' | 'turn' | 'writing'> & {
  /** Left out: it begins. */
  readonly recoveredAt?: string;
};

export class DiskSessionHandle implements SessionHandle {
  readonly id: string;
  readonly metadata: SessionMetadata;
  readonly directory: string;
  readonly lost: AbortSignal;
  readonly texts: SessionTexts;

  readonly #options: HandleOptions;
  readonly #home: SessionHome;
  #persistence: 'disk' | 'memory' = 'memory';
  #record: SessionRecord | null = null;
  #turn: TurnRecord | null = null;
  #writing: WritingRecord | null = null;
  #recoveredAt: string | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  /** A save that has not started yet (E2). */
  #nextSave: Promise<SaveResult> | null = null;
  /** The part of the last `state.json` that must survive a power cut. */
  #durableStanding: string | null = null;
  /** The rescue folder that also contains this session. */
  #rescuedIn: string | null = null;
  #closed = false;

  constructor(options: HandleOptions) {
    this.#options = options;
    this.#home = new SessionHome(options, (cause) => this.#forgetFiles(cause));
    this.id = options.metadata.session_id;
    this.metadata = options.metadata;
    this.directory = this.#home.directory;
    this.lost = this.#home.lost;
    this.texts = new SessionTexts(options, this.#home, (error) => this.#degrade(error));
  }

  /** Starts a new session. Rejects only with TARGET_LOCKED or because of a defect. */
  async start(turn: TurnRecord | null): Promise<void> {
    this.#turn = turn;
    try {
      await this.#home.settle(turn, this.#firstState());
      await this.texts.content.sync();
      await syncDirectory(this.directory);
      await this.texts.content.confirmFile();
      this.#persistence = 'disk';
    } catch (error) {
      if (OrionError.isInstance(error)) {
        await this.#home.giveBack();
        throw error;
      }
      if (errnoOf(error) === null) throw error;
      this.#persistence = 'disk';
      this.#degrade(error);
    }
  }

  /** Takes over an existing directory from a dead owner. */
  moveIn(lock: TargetLock): void {
    this.#home.moveIn(lock);
  }

  /** Continues a claimed session. `rescuedIn`: the folder that it was rescued to. */
  resume(found: RecoveredSession, rescuedIn: string | null = null): void {
    this.#rescuedIn = rescuedIn;
    this.#record = found.record;
    this.#turn = found.turn;
    this.#writing = found.writing;
    this.#recoveredAt = found.recoveredAt;
    this.#persistence = 'disk';
  }

  /** The session's directory has vanished, so none of its files can be trusted. */
  #forgetFiles(cause: unknown): void {
    this.texts.distrust(cause);
    this.#durableStanding = null;
    this.#degrade(cause);
  }

  /** The claim failed: releases everything without writing. */
  async abandon(): Promise<void> {
    this.#closed = true;
    await this.texts.close();
    await this.#home.leave();
    this.#options.onClosed();
  }

  contentPath(): string {
    return this.texts.content.path() ?? this.#home.pathOf(numberedName('content', 1));
  }

  persistence(): 'disk' | 'memory' {
    return this.#home.isLost() ? 'memory' : this.#persistence;
  }

  append(text: string): void {
    this.texts.content.append(text);
  }

  appendBytes(bytes: Uint8Array): void {
    this.texts.content.appendBytes(bytes);
  }

  bytes(): number {
    return this.texts.content.bytes();
  }

  durableBytes(): number {
    return this.texts.content.durableBytes();
  }

  savedBytes(): number {
    return this.#home.isLost() ? 0 : this.texts.content.savedBytes();
  }

  appendPending(text: string): void {
    this.texts.appendPending(text);
  }

  clearPending(): void {
    this.texts.pending.clear();
  }

  readPending(): AsyncIterable<string> {
    return decodePending(this.texts.pending.read());
  }

  setAside(text: string): void {
    this.texts.trailing.append(text);
  }

  async startOver(record: SessionRecord): Promise<void> {
    await this.texts.setContentAside(() => this.persistence());
    await this.#exclusively(async () => {
      const old = this.texts.restartContent();
      const oldPath = old.path();
      this.#record = record;
      const saved = await this.#saveNow().catch(() => null);
      await old.close();
      // Until `state.json` names the new file, a recovery needs the old one.
      if (saved?.persistence === 'disk' && oldPath !== null)
        await unlink(oldPath).catch(() => undefined);
    });
  }

  save(record: SessionRecord): Promise<SaveResult> {
    this.#record = record;
    this.#nextSave ??= this.#exclusively(() => {
      this.#nextSave = null;
      return this.#saveNow();
    });
    return this.#nextSave;
  }

  async #saveNow(): Promise<SaveResult> {
    if (this.#closed || this.#home.isLost()) return this.#result();
    try {
      await this.#home.settle(this.#turn, this.#firstState());
      await this.#home.requireOwnership();
      const outcome = await this.texts.content.sync();
      await this.texts.syncAside();
      if (outcome === 'new_file') await syncDirectory(this.directory);
      await this.#writeState();
      if (outcome === 'new_file') await this.texts.content.confirmFile();
    } catch (error) {
      if (this.#home.isLost()) return this.#result();
      this.#degrade(error);
      throw toDiskError(error, 'save the write session');
    }
    this.#restore();
    return this.#result();
  }

  #result(): SaveResult {
    return { durableBytes: this.texts.content.durableBytes(), persistence: this.persistence() };
  }

  #state(content: StoredContent): string {
    return formatState({
      record: this.#record,
      bufferSize: content.bytes,
      lineCount: content.lineFeeds,
      lastSave: new Date(this.#options.clock.now()).toISOString(),
      contentFile: content.file,
      writing: this.#writing,
      ...defined({ recoveredAt: this.#recoveredAt }),
    });
  }

  #firstState(): string {
    return this.#state({ bytes: 0, lineFeeds: 0, file: numberedName('content', 1) });
  }

  async #writeState(): Promise<void> {
    const text = this.#state({
      bytes: this.texts.content.durableBytes(),
      lineFeeds: this.texts.content.durableLineFeeds(),
      file: basename(this.contentPath()),
    });
    await this.#home.write('state.json', Buffer.from(text));
    // The content file itself shows newly saved content. A change of these fields would be lost in a power cut.
    const { state, question, code } = this.#record ?? {};
    const standing = JSON.stringify([state, question, code, this.#writing, this.contentPath()]);
    if (standing === this.#durableStanding) return;
    await syncDirectory(this.directory);
    this.#durableStanding = standing;
  }

  saveTurn(turn: TurnRecord): Promise<void> {
    return this.#exclusively(async () => {
      this.#turn = turn;
      await this.#attempt(() => this.#home.write('turn.json', jsonBytes(turn)));
    });
  }

  async *readContent(start?: number, end?: number): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* this.texts.content.read(start, end);
    } catch (error) {
      throw toDiskError(error, 'read the saved text');
    }
  }

  async rescue(): Promise<string> {
    const path = await onDisk('copy the text to the temporary folder', () =>
      writeRescued({
        id: this.id,
        metadata: this.#home.metadataBytes(),
        turn: this.#turn === null ? null : jsonBytes(this.#turn),
        content: this.texts.content.read(),
        trailing: this.texts.notTheFile(),
        state: (content) => this.#state(content),
      }),
    );
    await this.#leaveRescued();
    this.#rescuedIn = dirname(path);
    return path;
  }

  /** Removes the rescue folder, whose contents are now elsewhere. */
  async #leaveRescued(): Promise<void> {
    const folder = this.#rescuedIn;
    this.#rescuedIn = null;
    if (folder !== null) await removeRescued(folder);
  }

  recordWriting(writing: WritingRecord): Promise<void> {
    return this.#exclusively(async () => {
      // Nor after it was given back: its next owner would not know of the file.
      if (this.#closed || this.#home.isLost()) throw this.#home.lostError();
      const stands = this.#writing?.stands === true;
      this.#writing = stands ? { ...writing, stands } : writing;
      await this.#attempt(() => this.#writeState());
      // A full disk does not prevent a commit from memory; another owner does.
      if (this.#home.isLost()) throw this.#home.lostError();
    });
  }

  resolveWriting(writing: WritingRecord): Promise<WritingOutcome> {
    return this.#exclusively(async () => {
      const outcome = await this.#options.judgeWriting(writing);
      // Only the process that made the record can prove this outcome, and the evidence may be gone by the next check.
      this.#writing = outcome === 'changed_after' ? { ...writing, stands: true } : null;
      return outcome;
    });
  }

  release(): Promise<void> {
    return this.#close(async () => {
      await this.texts.content.finish();
      await this.texts.finishAside();
      await this.#saveLast();
      await this.#home.giveBack();
    });
  }

  async remove(): Promise<{ readonly trailing?: string; readonly warnings: readonly string[] }> {
    const warnings: string[] = [];
    let trailing: string | null = null;
    await this.#close(async () => {
      if (this.#home.isLost()) {
        warnings.push('session_lost');
        return;
      }
      try {
        trailing = await this.#keepTrailing();
      } catch (error) {
        // The directory stays because it contains the only copy.
        warnings.push('trailing_not_moved', this.#rescuedIn ?? this.directory);
        if (errnoOf(error) === null && !OrionError.isInstance(error)) throw error;
        await this.#home.giveBack();
        return;
      }
      if (this.#home.isSettled()) {
        const removed = await this.#home.remove();
        if (!removed) warnings.push('session_directory_left');
      }
      await this.#leaveRescued();
      await this.#home.freeTarget();
    });
    return trailing === null ? { warnings } : { trailing, warnings };
  }

  async discard(): Promise<{ readonly attic: string }> {
    const { state, clock } = this.#options;
    const attic = join(state.attic, this.id);
    await this.#close(() =>
      onDisk('move the write session to the attic', async () => {
        try {
          await this.texts.content.finish();
          await this.#home.settle(this.#turn, this.#firstState());
          await this.#saveLast();
          await this.#home.requireOwnership();
          await state.ensure(state.attic);
          await this.#home.leave();
          await this.#home.markReleased(this.directory);
          await moveToAttic(state, clock, this.directory, attic);
        } catch (error) {
          await this.#home.giveBack();
          throw error;
        }
        await this.#home.freeTarget();
      }),
    );
    return { attic };
  }

  /**
   * Saves all text that is not part of the file to the attic as one file: content outside of the recorded range, and
   * everything set aside. That content is not copied before, so a kill neither loses nor duplicates it.
   */
  async #keepTrailing(): Promise<string | null> {
    const { state, clock } = this.#options;
    const { content_start: start, content_end: end } = this.#record ?? {};
    if (!(await this.texts.finishAside(start, end))) return null;
    return keepTrailing(state, clock, this.id, this.texts.notTheFile(start, end));
  }

  /** Saves the last record again, with everything that has arrived since. Ignores failures. */
  async #saveLast(): Promise<void> {
    const { content, trailing } = this.texts;
    if (this.#home.isLost()) return;
    if (this.#persistence === 'disk' && !content.isDirty() && !trailing.isDirty()) return;
    await this.#saveNow().catch(() => undefined);
  }

  /** Runs `finish` once. Later calls find the handle closed. */
  async #close(finish: () => Promise<void>): Promise<void> {
    await this.#exclusively(async () => {
      if (this.#closed) return;
      try {
        await finish();
      } finally {
        this.#closed = true;
        await this.texts.close();
        await this.#home.leave();
        this.#options.onClosed();
      }
    });
  }

  /** Runs one step if there is a disk. A failure switches to memory and is not an error. */
  async #attempt(step: () => Promise<void>): Promise<void> {
    if (this.#closed || !this.#home.isSettled()) return;
    try {
      await step();
    } catch (error) {
      if (errnoOf(error) === null && !OrionError.isInstance(error)) throw error;
      this.#degrade(error);
    }
  }

  #exclusively<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(step);
    this.#queue = result.then(ignore, ignore);
    return result;
  }

  #degrade(error: unknown): void {
    if (this.#persistence === 'memory' || this.#home.isLost()) return;
    this.#persistence = 'memory';
    const cause = errnoOf(error) === null ? null : toDiskError(error, 'save the write session');
    this.#options.onEvent('degraded', {
      session_id: this.id,
      code: cause?.code ?? 'WRITE_FAILED',
      message: cause?.message ?? String(error),
    });
  }

  #restore(): void {
    if (this.#persistence === 'disk') return;
    this.#persistence = 'disk';
    this.#options.onEvent('restored', {
      session_id: this.id,
      bytes: this.texts.content.durableBytes(),
    });
  }
}

function ignore(): void {
  // The caller receives the result.
}

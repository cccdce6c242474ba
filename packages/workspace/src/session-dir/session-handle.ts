/**
 * A session that this process owns: its text, its records and what happens to them when the disk
 * fails.
 *
 * E1. The content that `state.json` counts is durable before `state.json` says so.
 * E2. One disk operation of the records at a time; saves that come while one is under way share the
 *     next one, which writes the latest record.
 * E3. No failure of the disk ends the session: it lives in memory until a `save` succeeds.
 * E4. After the session was lost to another process nothing is written any more.
 */
import { lstat, rename, rm, unlink, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OrionError } from '@orion/contracts';
import type {
  Clock,
  SaveResult,
  SessionHandle,
  SessionMetadata,
  SessionRecord,
  TurnRecord,
  WritingOutcome,
  WritingRecord,
} from '@orion/contracts';
import { open } from 'node:fs/promises';
import { syncDirectory } from '../disk/directories.ts';
import { errnoOf, isErrno, toDiskError } from '../disk/disk-error.ts';
import { temporaryName } from '../disk/files.ts';
import { writeAll } from '../disk/write-all.ts';
import type { StateDirectory } from '../state-directory.ts';
import { removeRescued, writeRescued } from './rescued-session.ts';
import { jsonBytes } from './session-home.ts';
import type { SessionHome } from './session-home.ts';
import { formatState, numberedName } from './session-files.ts';
import { TextSpool } from './text-spool.ts';
import { Wtf8Decoder } from './wtf8.ts';

export type EventSink = (
  type: string,
  details: Readonly<Record<string, string | number | boolean | null>>,
) => void;

export type HandleOptions = {
  readonly clock: Clock;
  readonly state: StateDirectory;
  readonly home: SessionHome;
  readonly metadata: SessionMetadata;
  readonly lost: AbortController;
  readonly onEvent: EventSink;
  /** Judges a recorded commit by the target's bytes. */
  readonly judgeWriting: (writing: WritingRecord) => Promise<WritingOutcome>;
  /** The session is no longer this process's. */
  readonly onClosed: () => void;
};

/** How much of the content is copied to `trailing.txt` before it is made durable and leaves memory. */
const SET_ASIDE_SYNC_BYTES = 1024 * 1024;

export class DiskSessionHandle implements SessionHandle {
  readonly id: string;
  readonly metadata: SessionMetadata;
  readonly directory: string;
  readonly lost: AbortSignal;
  content: TextSpool;
  readonly pending: TextSpool;
  readonly trailing: TextSpool;

  readonly #options: HandleOptions;
  readonly #home: SessionHome;
  #persistence: 'disk' | 'memory' = 'memory';
  #record: SessionRecord | null = null;
  #turn: TurnRecord | null = null;
  #writing: WritingRecord | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #saving: Promise<SaveResult> | null = null;
  #nextSave: Promise<SaveResult> | null = null;
  /** What of the last `state.json` a power cut must not take back. */
  #durableStanding: string | null = null;
  /** The folder in the temporary folder that holds this session too. */
  #rescuedIn: string | null = null;
  #closed = false;

  constructor(options: HandleOptions) {
    this.#options = options;
    this.#home = options.home;
    this.id = options.metadata.session_id;
    this.metadata = options.metadata;
    this.directory = options.home.directory;
    this.lost = options.lost.signal;
    this.content = this.#newSpool('content');
    this.pending = this.#newSpool('pending');
    this.trailing = this.#newSpool('trailing');
  }

  #newSpool(stem: string): TextSpool {
    return new TextSpool({
      clock: this.#options.clock,
      nextPath: () => this.#freePath(stem),
      mayWrite: () => this.#home.requireOwnership(),
      onFailure: (error) => this.#degrade(error),
    });
  }

  /** The first name of its kind that nothing has. */
  async #freePath(stem: string): Promise<string> {
    for (let number = 1; ; number += 1) {
      const path = this.#home.pathOf(numberedName(stem, number));
      try {
        await lstat(path);
      } catch (error) {
        if (isErrno(error, 'ENOENT')) return path;
        throw error;
      }
    }
  }

  /** Begins a new session. Rejects only with TARGET_LOCKED, or for a defect. */
  async start(turn: TurnRecord | null): Promise<void> {
    this.#turn = turn;
    try {
      await this.#home.settle(turn, this.#firstState());
      await this.content.sync();
      await syncDirectory(this.directory);
      await this.content.confirmFile();
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

  /** Goes on with what a claim found. */
  resume(found: {
    readonly record: SessionRecord | null;
    readonly turn: TurnRecord | null;
    readonly writing: WritingRecord | null;
    /** The folder that it was rescued to. */
    readonly rescuedIn?: string;
  }): void {
    this.#rescuedIn = found.rescuedIn ?? null;
    this.#record = found.record;
    this.#turn = found.turn;
    this.#writing = found.writing;
    this.#persistence = 'disk';
  }

  /** The directory is gone under the session: nothing in it is to be trusted. */
  forgetFiles(cause: unknown): void {
    for (const spool of [this.content, this.pending, this.trailing]) spool.distrust(cause);
    this.#durableStanding = null;
    this.#degrade(cause);
  }

  /** The claim went wrong half-way: lets go of everything without writing. */
  async abandon(): Promise<void> {
    this.#closed = true;
    for (const spool of [this.content, this.pending, this.trailing]) await spool.close();
    await this.#home.leave();
  }

  contentPath(): string {
    return this.content.path() ?? this.#home.pathOf(numberedName('content', 1));
  }

  persistence(): 'disk' | 'memory' {
    return this.#home.isLost() ? 'memory' : this.#persistence;
  }

  append(text: string): void {
    this.content.append(text);
  }

  bytes(): number {
    return this.content.bytes();
  }

  appendPending(text: string): void {
    if (text === '') return;
    if (this.pending.isEmpty()) this.pending.append(`${PENDING_HEADER}${this.content.bytes()}\n`);
    this.pending.append(text);
  }

  clearPending(): void {
    this.pending.clear();
  }

  async *readPending(): AsyncGenerator<string, void, undefined> {
    yield* decodePending(this.pending.read());
  }

  setAside(text: string): void {
    this.trailing.append(text);
  }

  async #setContentAside(): Promise<void> {
    let unsaved = 0;
    for await (const chunk of this.content.read()) {
      this.trailing.appendBytes(chunk);
      unsaved += chunk.length;
      if (unsaved < SET_ASIDE_SYNC_BYTES || this.persistence() === 'memory') continue;
      unsaved = 0;
      await this.trailing.sync().catch((error: unknown) => this.#degrade(error));
    }
  }

  async startOver(record: SessionRecord): Promise<void> {
    await this.#setContentAside();
    await this.#exclusively(async () => {
      const old = this.content;
      const oldPath = old.path();
      this.content = this.#newSpool('content');
      this.#record = record;
      const saved = await this.#saveNow().then(
        ({ persistence }) => persistence === 'disk',
        () => false,
      );
      await old.close();
      // Until `state.json` names the new file, a recovery needs the old one.
      if (saved && oldPath !== null) await unlink(oldPath).catch(() => undefined);
    });
  }

  save(record: SessionRecord): Promise<SaveResult> {
    this.#record = record;
    if (this.#saving === null) return this.#startSave();
    this.#nextSave ??= this.#saving.then(ignore, ignore).then(() => {
      this.#nextSave = null;
      return this.#startSave();
    });
    return this.#nextSave;
  }

  #startSave(): Promise<SaveResult> {
    const saving = this.#exclusively(() => this.#saveNow());
    this.#saving = saving;
    const done = (): void => {
      if (this.#saving === saving) this.#saving = null;
    };
    saving.then(done, done);
    return saving;
  }

  async #saveNow(): Promise<SaveResult> {
    if (this.#closed || this.#home.isLost()) return this.#result();
    try {
      await this.#home.settle(this.#turn, this.#firstState());
      await this.#home.requireOwnership();
      const outcome = await this.content.sync();
      for (const spool of [this.pending, this.trailing]) {
        if (!spool.isDirty()) continue;
        if ((await spool.sync()) === 'same_file') continue;
        await syncDirectory(this.directory);
        await spool.confirmFile();
      }
      if (outcome === 'new_file') await syncDirectory(this.directory);
      await this.#writeState();
      if (outcome === 'new_file') await this.content.confirmFile();
    } catch (error) {
      if (this.#home.isLost()) return this.#result();
      this.#degrade(error);
      throw toDiskError(error, 'save the write session');
    }
    this.#restore();
    return this.#result();
  }

  #result(): SaveResult {
    return { durableBytes: this.content.durableBytes(), persistence: this.persistence() };
  }

  #state(content: { bytes: number; lineFeeds: number; file: string }): string {
    return formatState({
      record: this.#record,
      bufferSize: content.bytes,
      lineCount: content.lineFeeds,
      lastSave: new Date(this.#options.clock.now()).toISOString(),
      contentFile: content.file,
      writing: this.#writing,
    });
  }

  #firstState(): string {
    return this.#state({ bytes: 0, lineFeeds: 0, file: numberedName('content', 1) });
  }

  async #writeState(): Promise<void> {
    const text = this.#state({
      bytes: this.content.durableBytes(),
      lineFeeds: this.content.durableLineFeeds(),
      file: basename(this.contentPath()),
    });
    await this.#home.writeText('state.json', text);
    // That more content is saved shows in the content file itself; these would be forgotten.
    const { state, question, code } = this.#record ?? {};
    const standing = JSON.stringify([state, question, code, this.#writing, this.contentPath()]);
    if (standing === this.#durableStanding) return;
    await syncDirectory(this.directory);
    this.#durableStanding = standing;
  }

  saveTurn(turn: TurnRecord): Promise<void> {
    return this.#exclusively(async () => {
      this.#turn = turn;
      await this.#attempt(() => this.#home.writeJson('turn.json', turn));
    });
  }

  async *readContent(start?: number, end?: number): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* this.content.read(start, end);
    } catch (error) {
      throw toDiskError(error, 'read the saved text');
    }
  }

  async rescue(): Promise<string> {
    let path: string;
    try {
      path = await writeRescued({
        id: this.id,
        metadata: this.#home.metadataBytes(),
        turn: this.#turn === null ? null : jsonBytes(this.#turn),
        content: this.content.read(),
        trailing: this.#allTrailing(),
        state: (content) => this.#state(content),
      });
    } catch (error) {
      throw toDiskError(error, 'copy the text to the temporary folder');
    }
    await this.#leaveRescued();
    this.#rescuedIn = dirname(path);
    return path;
  }

  /** The folder is not needed any more: all of it is elsewhere. */
  async #leaveRescued(): Promise<void> {
    const folder = this.#rescuedIn;
    this.#rescuedIn = null;
    if (folder !== null) await removeRescued(folder);
  }

  recordWriting(writing: WritingRecord): Promise<void> {
    return this.#exclusively(async () => {
      if (this.#home.isLost()) throw this.#home.lostError();
      const stands = this.#writing?.stands === true;
      this.#writing = stands ? { ...writing, stands } : writing;
      await this.#attempt(() => this.#writeState());
      // A full disk does not stop a commit from memory, another owner does.
      if (this.#home.isLost()) throw this.#home.lostError();
    });
  }

  resolveWriting(writing: WritingRecord): Promise<WritingOutcome> {
    return this.#exclusively(async () => {
      const outcome = await this.#options.judgeWriting(writing);
      // Only what made its own record proves that the text stands, and that may be gone at the next look.
      this.#writing = outcome === 'changed_after' ? { ...writing, stands: true } : null;
      return outcome;
    });
  }

  release(): Promise<void> {
    return this.#close(async () => {
      await this.content.finish();
      await Promise.all([this.pending.finish(), this.trailing.finish()]);
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
        // Then the directory stays, since it holds the only copy.
        warnings.push('trailing_not_moved', this.#rescuedIn ?? this.directory);
        if (errnoOf(error) === null && !OrionError.isInstance(error)) throw error;
        await this.#home.giveBack();
        return;
      }
      if (this.#home.isSettled()) {
        const removed = await this.#removeDirectory();
        if (!removed) warnings.push('session_directory_left');
      }
      await this.#leaveRescued();
      await this.#home.freeTarget();
    });
    return trailing === null ? { warnings } : { trailing, warnings };
  }

  async discard(): Promise<{ readonly attic: string }> {
    const attic = join(this.#options.state.attic, this.id);
    let failure: unknown = null;
    await this.#close(async () => {
      try {
        await this.content.finish();
        await this.#home.settle(this.#turn, this.#firstState());
        await this.#saveLast();
        await this.#home.requireOwnership();
        await this.#options.state.ensure(this.#options.state.attic);
        await this.#home.leave();
        await this.#home.markReleased(this.directory);
        const now = new Date(this.#options.clock.now());
        await utimes(this.directory, now, now);
        await rename(this.directory, attic);
        await syncDirectory(this.#options.state.attic);
        await syncDirectory(this.#options.state.sessions);
      } catch (error) {
        failure = error;
        await this.#home.giveBack();
      }
      await this.#home.freeTarget();
    });
    if (failure !== null) throw toDiskError(failure, 'move the write session to the attic');
    return { attic };
  }

  async *#allTrailing(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.trailing.read();
    yield* withoutHeader(this.pending.read());
  }

  /** The parts of the content that are not the file, as the record says. */
  #outsideFile(): readonly (readonly [start: number, end: number])[] {
    const bytes = this.content.bytes();
    const { content_start = 0, content_end = bytes } = this.#record ?? {};
    const parts = [
      [0, content_start],
      [content_end, bytes],
    ] as const;
    return parts.filter(([start, end]) => start < end);
  }

  /**
   * What is not the file outlives the session in the attic, as one file: content outside of it, text that was set
   * aside, text that was never decided. That content is copied nowhere before: a kill neither loses nor doubles it.
   */
  async #keepTrailing(): Promise<string | null> {
    await Promise.all([this.pending.finish(), this.trailing.finish()]);
    const outside = this.#outsideFile();
    if (outside.length === 0 && this.pending.isEmpty() && this.trailing.isEmpty()) return null;
    const { state, clock } = this.#options;
    const directory = join(state.attic, this.id);
    await state.ensure(directory);
    const path = join(directory, 'trailing.txt');
    const temporary = temporaryName(path);
    const handle = await open(temporary, 'wx', 0o600);
    try {
      let position = 0;
      const content = outside.map(([start, end]) => this.content.read(start, end));
      for (const part of [...content, this.#allTrailing()]) {
        for await (const chunk of part) {
          await writeAll(handle, chunk, position);
          position += chunk.length;
        }
      }
      await handle.sync();
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncDirectory(directory);
    const now = new Date(clock.now());
    await utimes(directory, now, now);
    return path;
  }

  /** First away from under its name, so that no half-removed session is ever found. */
  async #removeDirectory(): Promise<boolean> {
    const removed = join(this.#options.state.sessions, `.removed-${this.id}`);
    try {
      await this.#home.requireOwnership();
      await this.#home.leave();
      try {
        await rename(this.directory, removed);
      } catch (error) {
        // It stays, and it is nobody's: whoever recovers it finds that it is done.
        await this.#home.markReleased(this.directory).catch(() => undefined);
        throw error;
      }
      await rm(removed, { recursive: true, force: true });
      return true;
    } catch (error) {
      if (errnoOf(error) === null && !OrionError.isInstance(error)) throw error;
      await this.#home.giveBack();
      return false;
    }
  }

  /** The last record once more, with everything that came since; a failure changes nothing. */
  async #saveLast(): Promise<void> {
    if (this.#home.isLost()) return;
    if (this.#persistence === 'disk' && !this.content.isDirty() && !this.trailing.isDirty()) return;
    await this.#saveNow().catch(() => undefined);
  }

  /** Does it once; whatever comes after finds the handle closed. */
  async #close(finish: () => Promise<void>): Promise<void> {
    await this.#exclusively(async () => {
      if (this.#closed) return;
      try {
        await finish();
      } finally {
        this.#closed = true;
        for (const spool of [this.content, this.pending, this.trailing]) await spool.close();
        await this.#home.leave();
        this.#options.onClosed();
      }
    });
  }

  /** Runs one step on the disk if there is one; its failure means memory, not an error. */
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
      bytes: this.content.durableBytes(),
    });
  }
}

/** The first line of `pending.txt`: the length of the content that its text follows. */
const PENDING_HEADER = 'follows ';

/** The bytes of a pending file behind its first line. */
export async function* withoutHeader(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let inHeader = true;
  for await (const chunk of source) {
    if (!inHeader) {
      yield chunk;
      continue;
    }
    const end = chunk.indexOf(0x0a);
    if (end === -1) continue;
    inHeader = false;
    if (end + 1 < chunk.length) yield chunk.subarray(end + 1);
  }
}

async function* decodePending(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new Wtf8Decoder();
  for await (const chunk of withoutHeader(source)) {
    const text = decoder.decode(chunk);
    if (text !== '') yield text;
  }
  const rest = decoder.end();
  if (rest !== '') yield rest;
}

function ignore(): void {
  // The one who asked for it is told.
}

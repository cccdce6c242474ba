/**
 * One append-only text file of a session, fed without waiting.
 *
 * S1. `append` never waits and never fails. Text is handed to the operating system within
 *     HAND_OVER_MS, or at HAND_OVER_BYTES, whichever comes first.
 * S2. Bytes are held in memory until an fdatasync that covered them has succeeded.
 * S3. The file only ever holds a prefix of the text, at exact offsets; a high surrogate at the end
 *     waits in memory for its pair.
 * S4. After a failed write for want of space, writing goes on in the same file at the durable offset.
 *     After any other failure, a failed sync above all, the file is never trusted again: a new one is
 *     made from the durable prefix and the held bytes.
 * S5. The first file is made by the first write. When that failed, everything is held and only `sync`
 *     tries again.
 * S6. `mayWrite` is asked before anything is written, and again after MAY_WRITE_MS; what it refuses is
 *     not written.
 * S7. Whoever waits, waits for what had been appended when the wait began: text that goes on coming
 *     does not put a sync off.
 */
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '@orion/contracts';
import { isErrno, systemError } from '../disk/disk-error.ts';
import { closeRead, isSameFile, openRegularFile, scanRange } from '../disk/files.ts';
import { writeAllOf, writeFrom } from '../disk/write-all.ts';
import { HeldBytes } from './held-bytes.ts';

/** Half of the promised 100 ms: the other half is for a busy event loop and the write itself. */
export const HAND_OVER_MS = 50;
const HAND_OVER_BYTES = 64 * 1024;
const MAX_WRITE_BYTES = 1024 * 1024;
/** To ask takes as long as to write: at full speed each write would wait for two round trips instead of one. */
const MAY_WRITE_MS = 100;

export type TextSpoolOptions = {
  readonly clock: Clock;
  /** The path for the next file, which must not exist. Called for the first one and after a failure. */
  readonly nextPath: () => Promise<string>;
  /** Rejects when nothing may be written: the session was taken over, or its directory is gone. */
  readonly mayWrite: () => Promise<void>;
  /** A write in the background failed; it is tried again by `sync`. */
  readonly onFailure: (error: unknown) => void;
};

export type OpenFile = { readonly handle: FileHandle; readonly path: string };

type SpoolFile = OpenFile & {
  /** The offset up to which it was written. */
  written: number;
  /** The text was cleared since: the next write empties the file first. */
  isStale: boolean;
  /** Once it is synced it holds the durable prefix; once its name is durable, it is confirmed. */
  stage: 'new' | 'synced' | 'confirmed';
  /** What it replaces, the newest last, until it is confirmed. */
  replaces: readonly OpenFile[];
};

type State =
  /** Nothing was written yet. */
  | { readonly kind: 'unopened' }
  | { readonly kind: 'good'; readonly file: SpoolFile }
  /** The file ends somewhere behind the durable offset. */
  | { readonly kind: 'torn'; readonly file: SpoolFile; readonly cause: unknown }
  /** There is no file, or it is not to be trusted with anything new. */
  | { readonly kind: 'lost'; readonly file: SpoolFile | null; readonly cause: unknown };

export class TextSpool {
  readonly #options: TextSpoolOptions;
  #state: State = { kind: 'unopened' };
  /** What is not durable; its start is how far the disk has come for certain. Cleared text takes it along. */
  #held: HeldBytes = new HeldBytes();
  #cancelHandOver: (() => void) | null = null;
  #writing: Promise<void> | null = null;
  #syncing: Promise<unknown> = Promise.resolve();
  /** Resolves when more has been written, or nothing is being written any more. */
  #progress: PromiseWithResolvers<void> = Promise.withResolvers();
  #closed = false;

  constructor(options: TextSpoolOptions) {
    this.#options = options;
  }

  /** Goes on behind an existing file whose `bytes` are durable. */
  adopt(file: OpenFile & { readonly bytes: number; readonly lineFeeds: number }): void {
    const { handle, path, bytes, lineFeeds } = file;
    this.#held = new HeldBytes(bytes, lineFeeds);
    this.#state = {
      kind: 'good',
      file: { handle, path, written: bytes, isStale: false, stage: 'confirmed', replaces: [] },
    };
  }

  append(text: string): void {
    if (text === '') return;
    this.#held.append(text);
    this.#appended();
  }

  /** Bytes that are text already, such as a range of another spool; they are copied. */
  appendBytes(bytes: Uint8Array): void {
    this.#held.appendBytes(bytes);
    this.#appended();
  }

  /** Forgets everything; the file is emptied by the next write. */
  clear(): void {
    if (this.bytes() === 0) return;
    this.#held = new HeldBytes();
    const file = this.#file();
    if (file !== null) {
      file.written = 0;
      file.isStale = true;
    }
    this.#scheduleHandOver();
  }

  bytes(): number {
    return this.#held.length;
  }

  durableBytes(): number {
    return this.#held.start;
  }

  durableLineFeeds(): number {
    return this.#held.durableLineFeeds;
  }

  /** The file that holds the durable prefix; null while everything is in memory. */
  path(): string | null {
    return this.#trusted()?.path ?? null;
  }

  /** Everything has reached the operating system. */
  isHandedOver(): boolean {
    return this.#state.kind === 'good' && this.#hasWritten(this.#held.end);
  }

  /** A failure that only `sync` can mend. */
  isFailed(): boolean {
    return this.#state.kind === 'torn' || this.#state.kind === 'lost';
  }

  /** Needs a `sync` to be durable. */
  isDirty(): boolean {
    if (this.isFailed() && this.#held.end > 0) return true;
    return this.#held.start < this.#held.length || this.#file()?.isStale === true;
  }

  /** The file can no longer be trusted, for a reason outside: its directory was removed. */
  distrust(cause: unknown): void {
    this.#fail('lost', cause);
  }

  /** A lone high surrogate that still waits for its pair is written as it is. */
  async finish(): Promise<void> {
    this.#held.settle();
    await this.handOver();
  }

  /** Waits until everything so far is with the operating system, or has failed to get there. */
  async handOver(): Promise<void> {
    const goal = this.#held.end;
    this.#handOver();
    while (this.#writing !== null && !this.#hasWritten(goal)) await this.#progress.promise;
  }

  /**
   * Makes everything appended so far durable. Returns whether another file took the place of the old
   * one; the caller makes its name durable and then calls `confirmFile`.
   */
  sync(): Promise<'same_file' | 'new_file'> {
    // One at a time: two that mend the same failure would make two files.
    const synced = this.#syncing.then(() => this.#syncNow());
    this.#syncing = synced.catch(() => undefined);
    return synced;
  }

  async #syncNow(): Promise<'same_file' | 'new_file'> {
    while (this.#writing !== null && !this.#isGood()) await this.#progress.promise;
    if (!this.#isGood()) await this.#whileWriting(this.#mend());
    const held = this.#held;
    const goal = held.end;
    while (this.#isGood() && held === this.#held && !this.#hasWritten(goal)) {
      this.#handOver();
      await this.#progress.promise;
    }
    const state = this.#state;
    if (state.kind === 'unopened') throw new Error('a spool that was mended has a file');
    if (state.kind !== 'good') throw state.cause;
    const { file } = state;
    const target = file.written;
    try {
      await file.handle.datasync();
    } catch (error) {
      this.#fail('lost', error);
      throw error;
    }
    if (held === this.#held) held.markDurable(target);
    if (file.stage === 'new') file.stage = 'synced';
    return file.stage === 'synced' ? 'new_file' : 'same_file';
  }

  /** The directory that names the new file is durable: the older ones are not needed any more. */
  async confirmFile(): Promise<void> {
    const file = this.#file();
    if (file === null || file.stage === 'new') return;
    file.stage = 'confirmed';
    const { replaces } = file;
    file.replaces = [];
    for (const old of replaces) await this.#dispose(old);
  }

  /** The bytes from `start` to `end`, from the file and from memory, as they are when reading begins. */
  async *read(
    start: number = 0,
    end: number = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const durable = this.#held.start;
    const trusted = this.#trusted();
    const pinned = this.#held.pin(Math.max(start, durable), end);
    try {
      if (start < durable && trusted !== null) {
        // With a descriptor of its own the reader goes on when the file is replaced or closed.
        const own = await reopen(trusted);
        try {
          yield* scanRange(own ?? trusted.handle, start, Math.min(end, durable));
        } finally {
          await own?.close();
        }
      }
      yield* pinned.views;
    } finally {
      pinned.release();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelHandOver?.();
    this.#cancelHandOver = null;
    while (this.#writing !== null) await this.#writing;
    this.#tellProgress();
    const file = this.#file();
    this.#state = { kind: 'lost', file: null, cause: null };
    if (file === null) return;
    for (const { handle } of [file, ...file.replaces]) await handle.close().catch(() => undefined);
  }

  #file(): SpoolFile | null {
    return this.#state.kind === 'unopened' ? null : this.#state.file;
  }

  /** Holds the durable prefix; in good times it is the file that is being written. */
  #trusted(): OpenFile | null {
    const file = this.#file();
    return file?.stage === 'new' ? (file.replaces.at(-1) ?? file) : file;
  }

  #isGood(): boolean {
    return this.#state.kind === 'good';
  }

  #hasWritten(goal: number): boolean {
    const file = this.#file();
    return file !== null && !file.isStale && file.written >= goal;
  }

  /** What is lost stays lost: no later failure makes its file good to go on with. */
  #fail(kind: 'torn' | 'lost', cause: unknown): void {
    const file = this.#file();
    if (this.#state.kind === 'lost') return;
    this.#state =
      kind === 'torn' && file !== null ? { kind, file, cause } : { kind: 'lost', file, cause };
  }

  #appended(): void {
    if (this.#held.end - (this.#file()?.written ?? 0) >= HAND_OVER_BYTES) this.#handOver();
    else this.#scheduleHandOver();
  }

  #scheduleHandOver(): void {
    if (this.#closed) return;
    this.#cancelHandOver ??= this.#options.clock.schedule(HAND_OVER_MS, () => this.#handOver());
  }

  #handOver(): void {
    this.#cancelHandOver?.();
    this.#cancelHandOver = null;
    this.#startWriting();
  }

  #startWriting(): void {
    if (this.#closed || this.#writing !== null || this.isFailed() || this.isHandedOver()) return;
    if (this.#state.kind === 'unopened' && this.#held.end === 0) return;
    void this.#whileWriting(this.#write());
  }

  /** Nothing else writes, or makes a file, until `work` has ended. */
  #whileWriting(work: Promise<void>): Promise<void> {
    const ended = work.finally(() => {
      this.#writing = null;
      // A few bytes go on collecting until their own time is up.
      if (this.#cancelHandOver === null) this.#startWriting();
      this.#tellProgress();
    });
    this.#writing = ended.catch(() => undefined);
    return ended;
  }

  #tellProgress(): void {
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }

  /** Never rejects: what goes wrong is in `#state`. */
  async #write(): Promise<void> {
    try {
      await this.#options.mayWrite();
      if (this.#state.kind === 'unopened') await this.#replaceFile();
    } catch (error) {
      // The file itself has come to no harm, unless `mayWrite` has said so.
      this.#fail('torn', error);
      this.#options.onFailure(error);
      return;
    }
    try {
      if (this.#state.kind === 'good') await this.#writeHeld(this.#state.file);
    } catch (error) {
      this.#fail(isErrno(error, 'ENOSPC', 'EDQUOT', 'EFBIG') ? 'torn' : 'lost', error);
      this.#options.onFailure(error);
    }
  }

  async #writeHeld(file: SpoolFile): Promise<void> {
    const held = this.#held;
    const allowedUntil = this.#options.clock.monotonic() + MAY_WRITE_MS;
    if (file.isStale) {
      file.isStale = false;
      await file.handle.truncate(0);
    }
    // Everything that waits goes out together: each write is a round trip through the thread pool, and on a busy
    // machine a backlog of small ones would outlast the promise of S1.
    while (held === this.#held && file.written < held.end) {
      const start = file.written;
      const end = Math.min(held.end, start + MAX_WRITE_BYTES);
      await writeAllOf(file.handle, held.views(start, end), start);
      if (held !== this.#held) return;
      file.written = end;
      this.#tellProgress();
      if (this.#options.clock.monotonic() > allowedUntil) return;
    }
  }

  async #mend(): Promise<void> {
    await this.#options.mayWrite();
    const state = this.#state;
    if (state.kind !== 'torn') return this.#replaceFile();
    const { file } = state;
    file.written = this.#held.start;
    file.isStale = false;
    await file.handle.truncate(file.written);
    this.#state = { kind: 'good', file };
  }

  async #replaceFile(): Promise<void> {
    const held = this.#held;
    const old = this.#file();
    const path = await this.#options.nextPath();
    const handle = await open(path, 'wx+', 0o600);
    try {
      await copyPrefix(this.#trusted(), handle, held.start);
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
    const isStale = held !== this.#held;
    const isNeeded = old !== null && old.stage !== 'new';
    const replaces = isNeeded ? [...old.replaces, old] : (old?.replaces ?? []);
    const written = this.#held.start;
    this.#state = {
      kind: 'good',
      file: { handle, path, written, isStale, stage: 'new', replaces },
    };
    if (old !== null && !isNeeded) await this.#dispose(old);
  }

  async #dispose(file: OpenFile): Promise<void> {
    await file.handle.close().catch(() => undefined);
    // In a directory that was made anew the next file may have the same name.
    if (file.path !== this.#file()?.path) await unlink(file.path).catch(() => undefined);
  }
}

async function copyPrefix(from: OpenFile | null, to: FileHandle, bytes: number): Promise<void> {
  if (from === null || bytes === 0) return;
  const copied = await writeFrom(to, scanRange(from.handle, 0, bytes));
  if (copied !== bytes) throw systemError('EIO', 'the durable prefix is shorter than it was');
}

/** Null when another file has the path by now. */
async function reopen(file: OpenFile): Promise<FileHandle | null> {
  const own = await openRegularFile(file.path);
  if (own === null || (await isSameFile(own, file.handle).catch(() => false))) return own;
  await closeRead(own);
  return null;
}

/**
 * An append-only text file of a session. Writers never wait.
 *
 * S1. `append` never waits and never fails. Text is written to the operating system after HAND_OVER_MS or
 *     HAND_OVER_BYTES, whichever comes first.
 * S2. Bytes stay in memory until an fdatasync that covers them has succeeded.
 * S3. The file always contains a prefix of the text at exact offsets. A high surrogate at the end waits in memory for
 *     its pair.
 * S4. After a write that failed for lack of space, writing continues in the same file at the durable offset. After any
 *     other failure, such as a failed sync, the file is never trusted again: a new one is created from the durable
 *     prefix and the held bytes.
 * S5. The first write creates the first file. If that fails, everything stays in memory and only `sync` tries again.
 * S6. `mayWrite` is called before every write and again after MAY_WRITE_MS. If it rejects, nothing is written.
 * S7. A wait covers the text appended before it began. Text that keeps arriving does not delay a sync.
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
/** Calling `mayWrite` takes as long as a write. At full speed, each write would otherwise need two round trips. */
const MAY_WRITE_MS = 100;

export type TextSpoolOptions = {
  readonly clock: Clock;
  /** The path of the next file, which must not exist. Called for the first file and after a failure. */
  readonly nextPath: () => Promise<string>;
  /** Rejects if nothing may be written: the session was taken over, or its directory is gone. */
  readonly mayWrite: () => Promise<void>;
  /** Called when a background write failed. `sync` tries it again. */
  readonly onFailure: (error: unknown) => void;
  /** Counts what is written and synced. */
  readonly counts?: { saved: number; synced: number };
};

export type OpenFile = { readonly handle: FileHandle; readonly path: string };

type SpoolFile = OpenFile & {
  /** Offset of the next byte to write. */
  written: number;
  /** The text was cleared. The next write truncates the file first. */
  isStale: boolean;
  /** `synced`: contains the durable prefix. `confirmed`: its name is durable, too. */
  stage: 'new' | 'synced' | 'confirmed';
  /** Files that it replaces, oldest first, kept until it is confirmed. */
  replaces: readonly OpenFile[];
};

type State =
  /** Nothing has been written yet. */
  | { readonly kind: 'unopened' }
  | { readonly kind: 'good'; readonly file: SpoolFile }
  /** The end of the file is uncertain, but at or after the durable offset. */
  | { readonly kind: 'torn'; readonly file: SpoolFile; readonly cause: unknown }
  /** There is no file, or no new text may be written to it. */
  | { readonly kind: 'lost'; readonly file: SpoolFile | null; readonly cause: unknown };

export class TextSpool {
  readonly #options: TextSpoolOptions;
  #state: State = { kind: 'unopened' };
  /**
   * The text that is not durable yet. Its start is the durable offset. Replaced as a whole when the text is cleared.
   */
  #held: HeldBytes = new HeldBytes();
  #cancelHandOver: (() => void) | null = null;
  #writing: Promise<void> | null = null;
  #syncing: Promise<unknown> = Promise.resolve();
  /** Resolves when more has been written or writing has stopped. */
  #progress: PromiseWithResolvers<void> = Promise.withResolvers();
  #closed = false;

  constructor(options: TextSpoolOptions) {
    this.#options = options;
  }

  /** Continues an existing file whose `bytes` are durable. */
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

  /** Appends encoded text, such as a range of another spool. Copies the bytes. */
  appendBytes(bytes: Uint8Array): void {
    this.#held.appendBytes(bytes);
    this.#appended();
  }

  /** Discards all text. The next write truncates the file. */
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

  /** How much the operating system has, which the end of this process does not take. */
  savedBytes(): number {
    const file = this.#file();
    const isCertain = this.#state.kind === 'good' && file !== null && !file.isStale;
    return isCertain ? Math.max(this.#held.start, file.written) : this.#held.start;
  }

  durableLineFeeds(): number {
    return this.#held.durableLineFeeds;
  }

  /** The file with the durable prefix; null while everything is in memory. */
  path(): string | null {
    return this.#trusted()?.path ?? null;
  }

  /** Whether the operating system has all text. */
  isHandedOver(): boolean {
    return this.#state.kind === 'good' && this.#hasWritten(this.#held.end);
  }

  /** Whether there was a failure that only `sync` can repair. */
  isFailed(): boolean {
    return this.#state.kind === 'torn' || this.#state.kind === 'lost';
  }

  /** Whether it needs a `sync` to be durable. */
  isDirty(): boolean {
    if (this.isFailed() && this.#held.end > 0) return true;
    return this.#held.start < this.#held.length || this.#file()?.isStale === true;
  }

  /** Stops trusting the file for an external reason, such as a removed directory. */
  distrust(cause: unknown): void {
    this.#fail('lost', cause);
  }

  /** Writes a waiting high surrogate as it is. */
  async finish(): Promise<void> {
    this.#held.settle();
    await this.handOver();
  }

  /** Waits until the operating system has all text appended so far, or writing it has failed. */
  async handOver(): Promise<void> {
    const goal = this.#held.end;
    this.#handOver();
    while (this.#writing !== null && !this.#hasWritten(goal)) await this.#progress.promise;
  }

  /**
   * Makes everything appended so far durable. Returns `new_file` if the file has no durable name yet; the caller then
   * makes the name durable and calls `confirmFile`.
   */
  sync(): Promise<'same_file' | 'new_file'> {
    // One at a time: two repairs of the same failure would create two files.
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
    const { counts } = this.#options;
    if (counts !== undefined) counts.synced += Math.max(0, target - held.start);
    held.markDurable(target);
    if (file.stage === 'new') file.stage = 'synced';
    return file.stage === 'synced' ? 'new_file' : 'same_file';
  }

  /** The name of the new file is durable, so the older files can go. */
  async confirmFile(): Promise<void> {
    const file = this.#file();
    if (file === null || file.stage === 'new') return;
    file.stage = 'confirmed';
    const { replaces } = file;
    file.replaces = [];
    for (const old of replaces) await this.#dispose(old);
  }

  /** The bytes from `start` to `end`, from file and memory, as of the start of reading. */
  async *read(
    start: number = 0,
    end: number = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const durable = this.#held.start;
    const trusted = this.#trusted();
    const pinned = this.#held.pin(Math.max(start, durable), end);
    try {
      if (start < durable && trusted !== null) {
        // Its own descriptor lets the reader continue when the file is replaced or closed.
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

  /** The file with the durable prefix. Without a failure, this is the file being written. */
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

  /** A lost file stays lost: no later failure makes it usable again. */
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

  /** Blocks other writes and new files until `work` has ended. */
  #whileWriting(work: Promise<void>): Promise<void> {
    const ended = work.finally(() => {
      this.#writing = null;
      // A few bytes wait for their own timer.
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

  /** Never rejects. `#state` records a failure. */
  async #write(): Promise<void> {
    try {
      await this.#options.mayWrite();
      if (this.#state.kind === 'unopened') await this.#replaceFile();
    } catch (error) {
      // The file is undamaged, unless `mayWrite` has reported otherwise.
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
    // Writes everything that waits together. Each write is a round trip through the thread pool, and on a busy machine
    // a backlog of small writes would break S1.
    while (held === this.#held && file.written < held.end) {
      const start = file.written;
      const end = Math.min(held.end, start + MAX_WRITE_BYTES);
      await writeAllOf(file.handle, held.views(start, end), start);
      if (this.#options.counts !== undefined) this.#options.counts.saved += end - start;
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
    // In a recreated directory, the next file may have the same name.
    if (file.path !== this.#file()?.path) await unlink(file.path).catch(() => undefined);
  }
}

async function copyPrefix(from: OpenFile | null, to: FileHandle, bytes: number): Promise<void> {
  if (from === null || bytes === 0) return;
  const copied = await writeFrom(to, scanRange(from.handle, 0, bytes));
  if (copied !== bytes) throw systemError('EIO', 'the durable prefix is shorter than it was');
}

/** Null if another file has the path now. */
async function reopen(file: OpenFile): Promise<FileHandle | null> {
  const own = await openRegularFile(file.path);
  if (own === null || (await isSameFile(own, file.handle).catch(() => false))) return own;
  await closeRead(own);
  return null;
}

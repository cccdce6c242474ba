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
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '@orion/contracts';
import { isErrno } from '../disk/disk-error.ts';
import { scanRange } from '../disk/files.ts';
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

type Condition =
  /** Nothing was written yet. */
  | { readonly kind: 'unopened' }
  | { readonly kind: 'good' }
  /** The file ends somewhere behind the durable offset. */
  | { readonly kind: 'torn'; readonly cause: unknown }
  /** There is no file, or it is not to be trusted. */
  | { readonly kind: 'lost'; readonly cause: unknown };

export class TextSpool {
  readonly #options: TextSpoolOptions;
  #cancelHandOver: (() => void) | null = null;
  /** What is not durable; its start is how far the disk has come for certain. */
  readonly #held: HeldBytes = new HeldBytes();
  /** The offset up to which the file was written. */
  #written = 0;
  #durableLineFeeds = 0;

  /** Being written; and the one that is known to hold the durable prefix, the same in good times. */
  #current: OpenFile | null = null;
  #trusted: OpenFile | null = null;
  /** Files that a newer one replaced, until the newer one's name is durable. */
  #superseded: OpenFile[] = [];
  #confirmed = true;
  #condition: Condition = { kind: 'unopened' };
  #writing: Promise<void> | null = null;
  #syncing: Promise<unknown> = Promise.resolve();
  #waiting: (() => void)[] = [];
  #truncate = false;
  #generation = 0;
  #closed = false;

  constructor(options: TextSpoolOptions) {
    this.#options = options;
  }

  /** Goes on behind an existing file whose `bytes` are durable. */
  adopt(file: OpenFile, bytes: number, lineFeeds: number): void {
    this.#current = file;
    this.#trusted = file;
    this.#held.restart(bytes);
    this.#written = bytes;
    this.#durableLineFeeds = lineFeeds;
    this.#condition = { kind: 'good' };
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
    if (this.isEmpty()) return;
    this.#generation += 1;
    this.#held.restart(0);
    this.#written = 0;
    this.#durableLineFeeds = 0;
    this.#truncate = this.#current !== null;
    this.#scheduleHandOver();
  }

  isEmpty(): boolean {
    return this.#held.length === 0;
  }

  bytes(): number {
    return this.#held.length;
  }

  durableBytes(): number {
    return this.#held.start;
  }

  durableLineFeeds(): number {
    return this.#durableLineFeeds;
  }

  /** The file that holds the durable prefix; null while everything is in memory. */
  path(): string | null {
    return (this.#trusted ?? this.#current)?.path ?? null;
  }

  /** Everything has reached the operating system. */
  isHandedOver(): boolean {
    return this.#condition.kind === 'good' && this.#written === this.#held.end && !this.#truncate;
  }

  /** A failure that only `sync` can mend. */
  isFailed(): boolean {
    return this.#condition.kind === 'torn' || this.#condition.kind === 'lost';
  }

  /** There is no file and no need of one. */
  isEmptyOnDisk(): boolean {
    return this.#condition.kind === 'unopened' && this.#held.end === 0;
  }

  /** Needs a `sync` to be durable. */
  isDirty(): boolean {
    if (this.isFailed() && this.#held.end > 0) return true;
    return this.#held.start < this.#held.length || this.#truncate;
  }

  /** The file can no longer be trusted, for a reason outside: its directory was removed. */
  distrust(cause: unknown): void {
    this.#condition = { kind: 'lost', cause };
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
    while (this.#writing !== null && (this.#written < goal || this.#truncate)) {
      await this.#progress();
    }
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
    if (this.#condition.kind !== 'good') await this.#repair();
    const generation = this.#generation;
    const goal = this.#held.end;
    while (this.#condition.kind === 'good' && generation === this.#generation) {
      if (this.#written >= goal && !this.#truncate) break;
      this.#handOver();
      await this.#progress();
    }
    if (this.#condition.kind !== 'good') throw this.#failure();
    const file = this.#current;
    if (file === null) throw new Error('a spool in good condition has a file');
    const target = this.#written;
    try {
      await file.handle.datasync();
    } catch (error) {
      this.#condition = { kind: 'lost', cause: error };
      throw error;
    }
    if (generation === this.#generation) {
      this.#durableLineFeeds += this.#held.markDurable(target);
    }
    if (this.#trusted !== file) {
      if (this.#trusted !== null) this.#superseded.push(this.#trusted);
      this.#trusted = file;
    }
    return this.#confirmed ? 'same_file' : 'new_file';
  }

  /** The directory that names the new file is durable: the older ones are not needed any more. */
  async confirmFile(): Promise<void> {
    this.#confirmed = true;
    for (const file of this.#superseded.splice(0)) await this.#dispose(file);
  }

  /** The bytes from `start` to `end`, from the file and from memory, as they are when reading begins. */
  async *read(
    start: number = 0,
    end: number = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const durable = this.#held.start;
    const trusted = this.#trusted;
    const pinned = this.#held.pin(Math.max(start, durable), end);
    try {
      if (start < durable && trusted !== null) {
        // With a descriptor of its own the reader goes on when the file is replaced or closed.
        const own = await openOwn(trusted);
        try {
          yield* scanRange(own?.handle ?? trusted.handle, start, Math.min(end, durable));
        } finally {
          await own?.handle.close();
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
    const files = new Set([this.#current, this.#trusted, ...this.#superseded]);
    this.#superseded = [];
    for (const file of files) await file?.handle.close().catch(() => undefined);
    this.#current = null;
    this.#trusted = null;
    this.#condition = { kind: 'lost', cause: null };
  }

  #appended(): void {
    if (this.#held.end - this.#written >= HAND_OVER_BYTES) this.#handOver();
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
    if (this.#closed || this.#writing !== null) return;
    if (this.isFailed() || this.isHandedOver() || this.isEmptyOnDisk()) return;
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

  /** Resolves when more has been written, or when nothing is being written. */
  #progress(): Promise<void> {
    if (this.#writing === null) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #tellProgress(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }

  /** Never rejects: what goes wrong is in `#condition`. */
  async #write(): Promise<void> {
    try {
      await this.#options.mayWrite();
      if (this.#condition.kind === 'unopened') await this.#replaceFile();
    } catch (error) {
      // The file itself has come to no harm, unless `mayWrite` has said so.
      if (this.#condition.kind === 'good') this.#condition = { kind: 'torn', cause: error };
      else if (this.#condition.kind === 'unopened') {
        this.#condition = { kind: 'lost', cause: error };
      }
      this.#options.onFailure(error);
      return;
    }
    try {
      await this.#writeHeld();
    } catch (error) {
      const full = isErrno(error, 'ENOSPC', 'EDQUOT', 'EFBIG');
      this.#condition = { kind: full ? 'torn' : 'lost', cause: error };
      this.#options.onFailure(error);
    }
  }

  async #writeHeld(): Promise<void> {
    const file = this.#current;
    if (file === null) return;
    const generation = this.#generation;
    const allowedUntil = this.#options.clock.monotonic() + MAY_WRITE_MS;
    if (this.#truncate) {
      this.#truncate = false;
      await file.handle.truncate(0);
    }
    // Everything that waits goes out together: each write is a round trip through the thread pool, and on a busy
    // machine a backlog of small ones would outlast the promise of S1.
    while (generation === this.#generation && this.#written < this.#held.end) {
      const start = this.#written;
      const end = Math.min(this.#held.end, start + MAX_WRITE_BYTES);
      await writeAllOf(file.handle, this.#held.views(start, end), start);
      if (generation !== this.#generation) return;
      this.#written = end;
      this.#tellProgress();
      if (this.#options.clock.monotonic() > allowedUntil) return;
    }
  }

  async #repair(): Promise<void> {
    while (this.#writing !== null && !this.#isGood()) await this.#progress();
    if (!this.#isGood()) await this.#whileWriting(this.#mend());
  }

  async #mend(): Promise<void> {
    await this.#options.mayWrite();
    if (this.#condition.kind === 'torn' && this.#current !== null) {
      await this.#current.handle.truncate(this.#held.start);
      this.#written = this.#held.start;
      this.#truncate = false;
      this.#condition = { kind: 'good' };
    } else {
      await this.#replaceFile();
    }
  }

  async #replaceFile(): Promise<void> {
    const path = await this.#options.nextPath();
    const handle = await open(path, 'wx+', 0o600);
    try {
      if (this.#held.start > 0) await this.#copyDurablePrefix(handle);
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
    const abandoned = this.#current;
    this.#current = { handle, path };
    this.#confirmed = false;
    this.#written = this.#held.start;
    this.#truncate = false;
    this.#condition = { kind: 'good' };
    if (abandoned !== null && abandoned !== this.#trusted) await this.#dispose(abandoned);
  }

  async #dispose(file: OpenFile): Promise<void> {
    await file.handle.close().catch(() => undefined);
    // In a directory that was made anew the next file may have the same name.
    if (file.path !== this.#current?.path) await unlink(file.path).catch(() => undefined);
  }

  async #copyDurablePrefix(to: FileHandle): Promise<void> {
    const from = this.#trusted;
    if (from === null) throw new Error('durable bytes are in a trusted file');
    const copied = await writeFrom(to, scanRange(from.handle, 0, this.#held.start));
    if (copied !== this.#held.start) {
      throw Object.assign(new Error('the durable prefix is shorter than it was'), {
        errno: -5,
        code: 'EIO',
      });
    }
  }

  #isGood(): boolean {
    return this.#condition.kind === 'good';
  }

  #failure(): unknown {
    const condition = this.#condition;
    if (condition.kind === 'torn' || condition.kind === 'lost') return condition.cause;
    return new Error('the spool has no file');
  }
}

/** Null when another file has the path by now. */
async function openOwn(file: OpenFile): Promise<OpenFile | null> {
  let handle: FileHandle;
  try {
    handle = await open(file.path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    const [own, original] = await Promise.all([handle.stat(), file.handle.stat()]);
    if (own.ino === original.ino && own.dev === original.dev) return { handle, path: file.path };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return null;
}

/**
 * The three texts of a session that this process owns: its content, what was set aside of it, and text of which it is
 * not decided yet which of the two it is.
 */
import type { Clock, SessionHandle } from '@orion/contracts';
import { syncDirectory } from '../disk/directories.ts';
import { isThere } from '../disk/files.ts';
import { numberedName } from './session-files.ts';
import type { SessionHome } from './session-home.ts';
import { TextSpool } from './text-spool.ts';
import { Wtf8Decoder } from './wtf8.ts';

/** How much of the content is copied to `trailing.txt` before it is made durable and leaves memory. */
const SET_ASIDE_SYNC_BYTES = 1024 * 1024;

export class SessionTexts {
  content: TextSpool;
  readonly pending: TextSpool;
  readonly trailing: TextSpool;
  readonly #clock: Clock;
  readonly #home: SessionHome;
  readonly #onFailure: (error: unknown) => void;

  constructor(clock: Clock, home: SessionHome, onFailure: (error: unknown) => void) {
    this.#clock = clock;
    this.#home = home;
    this.#onFailure = onFailure;
    this.content = this.#newSpool('content');
    this.pending = this.#newSpool('pending');
    this.trailing = this.#newSpool('trailing');
  }

  /** The content begins anew in another file; what it was is the caller's to close. */
  restartContent(): TextSpool {
    const old = this.content;
    this.content = this.#newSpool('content');
    return old;
  }

  appendPending(text: string): void {
    if (text === '') return;
    if (this.pending.bytes() === 0)
      this.pending.append(`${PENDING_HEADER}${this.content.bytes()}\n`);
    this.pending.append(text);
  }

  /** Copies the content to what was set aside; memory stays bounded while there is a disk. */
  async setContentAside(persistence: SessionHandle['persistence']): Promise<void> {
    let unsaved = 0;
    for await (const chunk of this.content.read()) {
      this.trailing.appendBytes(chunk);
      unsaved += chunk.length;
      if (unsaved < SET_ASIDE_SYNC_BYTES || persistence() === 'memory') continue;
      unsaved = 0;
      await this.trailing.sync().catch(this.#onFailure);
    }
  }

  /** What is not the file, in order: content before `start` and from `end` on, and all that is not content. */
  async *notTheFile(
    start: number = 0,
    end: number = this.content.bytes(),
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (start > 0) yield* this.content.read(0, start);
    if (end < this.content.bytes()) yield* this.content.read(end);
    yield* this.trailing.read();
    yield* withoutHeader(this.pending.read());
  }

  /** Makes all that is not content durable. */
  async syncAside(): Promise<void> {
    for (const spool of [this.pending, this.trailing]) {
      if (!spool.isDirty()) continue;
      if ((await spool.sync()) === 'same_file') continue;
      await syncDirectory(this.#home.directory);
      await spool.confirmFile();
    }
  }

  /** Whether there is any text that is not the file. */
  async finishAside(start: number = 0, end: number = this.content.bytes()): Promise<boolean> {
    await Promise.all([this.pending.finish(), this.trailing.finish()]);
    const isAll = start === 0 && end >= this.content.bytes();
    return !isAll || this.pending.bytes() > 0 || this.trailing.bytes() > 0;
  }

  distrust(cause: unknown): void {
    for (const spool of [this.content, this.pending, this.trailing]) spool.distrust(cause);
  }

  async close(): Promise<void> {
    for (const spool of [this.content, this.pending, this.trailing]) await spool.close();
  }

  #newSpool(stem: string): TextSpool {
    return new TextSpool({
      clock: this.#clock,
      nextPath: () => this.#freePath(stem),
      mayWrite: () => this.#home.requireOwnership(),
      onFailure: this.#onFailure,
    });
  }

  /** The first name of its kind that nothing has. */
  async #freePath(stem: string): Promise<string> {
    for (let number = 1; ; number += 1) {
      const path = this.#home.pathOf(numberedName(stem, number));
      if (!(await isThere(path))) return path;
    }
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

export async function* decodePending(
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

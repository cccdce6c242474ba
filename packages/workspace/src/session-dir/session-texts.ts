/**
 * The three texts of a session that this process owns: its content, text that was set aside, and pending text that may
 * become either.
 */
import type { Clock, SessionHandle } from '@orion/contracts';
import { syncDirectory } from '../disk/directories.ts';
import { isThere } from '../disk/files.ts';
import { numberedName } from './session-files.ts';
import type { SessionHome } from './session-home.ts';
import { TextSpool } from './text-spool.ts';
import type { TextSpoolOptions } from './text-spool.ts';
import { Wtf8Decoder } from './wtf8.ts';

/** Bytes of content copied to `trailing.txt` before they are synced and released from memory. */
const SET_ASIDE_SYNC_BYTES = 1024 * 1024;

export type ByteCounts = NonNullable<TextSpoolOptions['counts']>;

export class SessionTexts {
  content: TextSpool;
  readonly pending: TextSpool;
  readonly trailing: TextSpool;
  readonly #clock: Clock;
  readonly #home: SessionHome;
  readonly #onFailure: (error: unknown) => void;
  readonly #counts: ByteCounts;

  constructor(
    { clock, counts }: { readonly clock: Clock; readonly counts: ByteCounts },
    home: SessionHome,
    onFailure: (error: unknown) => void,
  ) {
    this.#clock = clock;
    this.#counts = counts;
    this.#home = home;
    this.#onFailure = onFailure;
    this.content = this.#newSpool('content');
    this.pending = this.#newSpool('pending');
    this.trailing = this.#newSpool('trailing');
  }

  /** Starts new content in another file. The caller closes the returned old one. */
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

  /** Copies the content to the set-aside text. Memory stays bounded while there is a disk. */
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

  /** All text that is not part of the file, in order: content before `start` and after `end`, then everything else. */
  async *notTheFile(
    start: number = 0,
    end: number = this.content.bytes(),
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (start > 0) yield* this.content.read(0, start);
    if (end < this.content.bytes()) yield* this.content.read(end);
    yield* this.trailing.read();
    yield* withoutHeader(this.pending.read());
  }

  /** Makes the trailing and pending text durable. */
  async syncAside(): Promise<void> {
    for (const spool of [this.pending, this.trailing]) {
      if (!spool.isDirty()) continue;
      if ((await spool.sync()) === 'same_file') continue;
      await syncDirectory(this.#home.directory);
      await spool.confirmFile();
    }
  }

  /** Returns whether any text is not part of the file. */
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
      counts: this.#counts,
    });
  }

  /** The first unused name of its kind. */
  async #freePath(stem: string): Promise<string> {
    for (let number = 1; ; number += 1) {
      const path = this.#home.pathOf(numberedName(stem, number));
      if (!(await isThere(path))) return path;
    }
  }
}

/** Starts the first line of `pending.txt`, which contains the length of the preceding content. */
const PENDING_HEADER = 'follows ';

/** The bytes of a pending file after its first line. */
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

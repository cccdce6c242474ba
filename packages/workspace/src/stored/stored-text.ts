/**
 * One text of a stored session: what the store has of it, and the bytes behind that.
 *
 * X1. What is taken stays held until the store says where the text ends. Taken twice, it is the same bytes.
 * X2. A taken part of a text ends with a whole character, so whoever takes over after a kill never finds a part of one.
 * X3. A cleared text is a new generation. The store hears of it even if nothing follows.
 */
import type { SessionPiece, TextPlace } from '@orion/contracts';
import { HeldBytes } from '../session-dir/held-bytes.ts';
import { incompleteTail } from '../session-dir/wtf8.ts';

/** The most that is stored of one text by one statement. */
export const MAX_PIECE_BYTES: number = 256 * 1024;

export class StoredText {
  readonly #isText: boolean;
  #held: HeldBytes;
  #generation: number;
  /** The generation that the store has. */
  #storedGeneration: number;
  /** Bytes in the store before the first one that belongs to this object. */
  #base: number;

  /** Behind what the store has. `isText`: false for bytes that may be anything. */
  constructor(isText: boolean, place: TextPlace = { generation: 0, bytes: 0 }, lineFeeds = 0) {
    this.#isText = isText;
    this.#generation = place.generation;
    this.#storedGeneration = place.generation;
    this.#base = 0;
    this.#held = new HeldBytes(place.bytes, lineFeeds);
  }

  get generation(): number {
    return this.#generation;
  }

  append(text: string): void {
    this.#held.append(text);
  }

  appendBytes(bytes: Uint8Array): void {
    this.#held.appendBytes(bytes);
  }

  /** Discards all text. */
  clear(): void {
    if (this.bytes() === 0) return;
    this.#generation += 1;
    this.#held = new HeldBytes();
  }

  /** Writes a waiting high surrogate as it is. */
  settle(): void {
    this.#held.settle();
  }

  bytes(): number {
    return this.#held.length;
  }

  /** How much the store has. */
  storedBytes(): number {
    return this.#held.start;
  }

  storedLineFeeds(): number {
    return this.#held.durableLineFeeds;
  }

  /** Where the encoded part ends, without a surrogate that waits for its pair. */
  end(): number {
    return this.#held.end;
  }

  isStored(): boolean {
    return this.#storedGeneration === this.#generation && this.#held.start === this.#held.end;
  }

  /** What the store does not have yet, or the first part of it; null if it has everything. */
  take(): SessionPiece | null {
    if (this.isStored()) return null;
    const { start, end } = this.#held;
    const all = Buffer.concat(this.#held.views(start, Math.min(end, start + MAX_PIECE_BYTES)));
    const cut = this.#isText && start + all.length < end ? incompleteTail(all) : 0;
    return {
      generation: this.#generation,
      at: this.#base + start,
      bytes: all.subarray(0, all.length - cut),
    };
  }

  /** The store has the text up to there. False if it cannot be: another one has written. */
  stored({ generation, bytes }: TextPlace): boolean {
    if (generation > this.#generation) return false;
    this.#storedGeneration = generation;
    // It was cleared meanwhile: the next part says so.
    if (generation < this.#generation) return true;
    const end = bytes - this.#base;
    if (end < this.#held.start || end > this.#held.end) return false;
    this.#held.markDurable(end);
    return true;
  }

  /** So many bytes were put before what this object holds. */
  moveBehind(bytes: number): void {
    this.#base += bytes;
  }

  /** Everything from `start` to `end`, of which `stored` reads what the store has. As of now. */
  async *read(
    stored: (start: number, end: number) => AsyncIterable<Uint8Array>,
    start: number = 0,
    end: number = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const known = this.#held.start;
    const pinned = this.#held.pin(Math.max(start, known), end);
    try {
      if (start < known) yield* stored(this.#base + start, this.#base + Math.min(end, known));
      yield* pinned.views;
    } finally {
      pinned.release();
    }
  }
}

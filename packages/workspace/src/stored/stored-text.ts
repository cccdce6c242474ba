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

/** Where a text ended at some time. */
export type TextMark = { readonly generation: number; readonly end: number };

export class StoredText {
  readonly #isText: boolean;
  #held: HeldBytes;
  #generation: number;
  /** The generation that the store has. */
  #storedGeneration: number;
  /** Bytes that the store has put before those of this object. */
  #base: number = 0;

  /** Behind what the store has. `isText`: false for bytes that may be anything. */
  constructor(isText: boolean, place: TextPlace = { generation: 0, bytes: 0 }, lineFeeds = 0) {
    this.#isText = isText;
    this.#generation = place.generation;
    this.#storedGeneration = place.generation;
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
    this.#base = 0;
    this.#held = new HeldBytes();
  }

  /** Writes a waiting high surrogate as it is. */
  settle(): void {
    this.#held.settle();
  }

  bytes(): number {
    return this.#base + this.#held.length;
  }

  /** How much the store has. */
  storedBytes(): number {
    return this.#base + this.#held.start;
  }

  storedLineFeeds(): number {
    return this.#held.durableLineFeeds;
  }

  /** Where the encoded part ends, without a surrogate that waits for its pair. */
  end(): number {
    return this.#base + this.#held.end;
  }

  mark(): TextMark {
    return { generation: this.#generation, end: this.#held.end };
  }

  /** Whether the store has everything before the mark, or it was cleared. `moveBehind` does not move a mark. */
  isStoredTo({ generation, end }: TextMark): boolean {
    return this.#generation !== generation || this.#held.start >= end;
  }

  isStored(): boolean {
    return !this.isCleared() && this.#held.start === this.#held.end;
  }

  /** Whether the store does not know yet that it was cleared. */
  isCleared(): boolean {
    return this.#storedGeneration !== this.#generation;
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

  /** The store has put other bytes before those of this object, and ends there. */
  moveBehind({ bytes }: TextPlace): void {
    this.#base = bytes - this.#held.start;
  }

  /** Everything from `start` to `end`, of which `stored` reads what the store has. As of now. */
  async *read(
    stored: (start: number, end: number) => AsyncIterable<Uint8Array>,
    start: number = 0,
    end: number = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const known = this.storedBytes();
    const pinned = this.#held.pin(Math.max(start, known) - this.#base, end - this.#base);
    try {
      if (start < known) yield* stored(start, Math.min(end, known));
      yield* pinned.views;
    } finally {
      pinned.release();
    }
  }
}

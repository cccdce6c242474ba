/**
 * The bytes at the end of a text that are not yet known to be on disk.
 *
 * H1. Text is encoded when it is appended: strings that lived until a sync would pile up in the old generation.
 * H2. A high surrogate at the end waits outside of the bytes for its pair.
 * H3. Bytes are stored in reusable blocks of equal size, so memory depends on the longest backlog, not on the length of
 *     the text. A block is reused only when all of it is durable and no reader is active.
 * H4. The contents of a view do not change while it may be read: until its bytes are durable, or until the reader that
 *     pinned it releases it.
 */
import { countLineFeeds, encodeWtf8, isHighSurrogate } from '@orion/contracts';

const BLOCK_BYTES = 64 * 1024;
/** Number of free blocks to keep. More are left over from a past backlog. */
const MAX_SPARE_BLOCKS = 8;
/** Three bytes: the most that UTF-8 needs for a code unit, and the length of a lone surrogate. */
const SURROGATE_BYTES = 3;

/** Covers the offsets from `start`; only the last block grows. */
type Block = { readonly start: number; readonly bytes: Uint8Array; length: number };

export type PinnedBytes = {
  readonly views: readonly Uint8Array[];
  /** Call once. The views must not be used afterwards. */
  readonly release: () => void;
};

const encoder = new TextEncoder();

export class HeldBytes {
  readonly #blocks: Block[] = [];
  readonly #spare: Uint8Array[] = [];
  /** Offsets: everything below `#start` is durable, everything below `#end` is encoded. */
  #start: number;
  #end: number;
  #durableLineFeeds: number;
  #waiting = '';
  #pins = 0;

  /** Starts after the given durable bytes and line feeds. */
  constructor(durableBytes: number = 0, durableLineFeeds: number = 0) {
    this.#start = durableBytes;
    this.#end = durableBytes;
    this.#durableLineFeeds = durableLineFeeds;
  }

  /** The offset of the first byte that is held. */
  get start(): number {
    return this.#start;
  }

  /** The offset after the last byte, not counting a waiting surrogate. */
  get end(): number {
    return this.#end;
  }

  /** Bytes of the whole text, including a waiting surrogate. */
  get length(): number {
    return this.#end + (this.#waiting === '' ? 0 : SURROGATE_BYTES);
  }

  /** Line feeds in the durable part. */
  get durableLineFeeds(): number {
    return this.#durableLineFeeds;
  }

  append(text: string): void {
    let rest = this.#waiting + text;
    this.#waiting = '';
    if (isHighSurrogate(rest.charCodeAt(rest.length - 1))) {
      this.#waiting = rest.slice(-1);
      rest = rest.slice(0, -1);
    }
    if (!rest.isWellFormed()) {
      this.#copy(encodeWtf8(rest));
      return;
    }
    while (rest !== '') {
      const block = this.#lastBlock();
      const { read, written } = encoder.encodeInto(rest, block.bytes.subarray(block.length));
      if (written === 0) {
        // The rest of the block is too small for one character.
        this.#addBlock();
        continue;
      }
      block.length += written;
      this.#end += written;
      rest = rest.slice(read);
    }
  }

  appendBytes(bytes: Uint8Array): void {
    this.settle();
    this.#copy(bytes);
  }

  /** Writes a waiting surrogate as it is. */
  settle(): void {
    const lone = encodeWtf8(this.#waiting);
    this.#waiting = '';
    this.#copy(lone);
  }

  /** The encoded bytes between two offsets. They must be written before `markDurable` is called for them. */
  views(from: number, to: number): readonly Uint8Array[] {
    const views: Uint8Array[] = [];
    for (const block of this.#blocks) {
      const first = Math.max(0, from - block.start);
      const last = Math.min(block.length, to - block.start);
      if (first < last) views.push(block.bytes.subarray(first, last));
    }
    return views;
  }

  /** The current bytes between two offsets, for a slow reader. */
  pin(from: number, to: number): PinnedBytes {
    const views = [...this.views(from, to)];
    const waiting = encodeWtf8(this.#waiting);
    views.push(waiting.subarray(Math.max(0, from - this.#end), Math.max(0, to - this.#end)));
    this.#pins += 1;
    return {
      views,
      release: () => {
        this.#pins -= 1;
      },
    };
  }

  /** Releases everything below the offset, which is on disk. */
  markDurable(target: number): void {
    for (const view of this.views(this.#start, target)) {
      this.#durableLineFeeds += countLineFeeds(view);
    }
    this.#start = target;
    for (;;) {
      const [first] = this.#blocks;
      if (first === undefined || first.start + first.length > target) break;
      this.#blocks.shift();
      if (this.#pins === 0 && this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(first.bytes);
    }
  }

  #copy(bytes: Uint8Array): void {
    let rest = bytes;
    while (rest.length > 0) {
      let block = this.#lastBlock();
      if (block.length === block.bytes.length) block = this.#addBlock();
      const part = rest.subarray(0, block.bytes.length - block.length);
      block.bytes.set(part, block.length);
      block.length += part.length;
      this.#end += part.length;
      rest = rest.subarray(part.length);
    }
  }

  #lastBlock(): Block {
    return this.#blocks.at(-1) ?? this.#addBlock();
  }

  #addBlock(): Block {
    const bytes = this.#spare.pop() ?? new Uint8Array(BLOCK_BYTES);
    const block = { start: this.#end, bytes, length: 0 };
    this.#blocks.push(block);
    return block;
  }
}

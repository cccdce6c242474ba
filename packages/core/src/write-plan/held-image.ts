/**
 * The bytes of an image in memory, for a file that many operations of a plan search: reading thousands of pieces for
 * each of thousands of operations would take quadratic time.
 *
 * M1. It changes in place, together with its image: only the newest state of a file may use it.
 */
import type { NewText, Splice } from './file-image.ts';

/** The largest file that is held; a larger one is read piece by piece. */
export const MAX_HELD_BYTES: number = 8 * 1024 * 1024;
const CHUNK_BYTES = 128 * 1024;

export class HeldImage {
  /** How many bytes of the memory are in use; the rest is room to grow. */
  length: number;
  #memory: Uint8Array;

  private constructor(memory: Uint8Array) {
    this.#memory = memory;
    this.length = memory.length;
  }

  static async of(chunks: AsyncIterable<Uint8Array>, bytes: number): Promise<HeldImage> {
    return new HeldImage(await gather(chunks, bytes));
  }

  /** Yields the bytes in chunks. */
  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; at < this.length; at += CHUNK_BYTES) {
      yield this.#memory.subarray(at, Math.min(this.length, at + CHUNK_BYTES));
    }
  }

  /** Applies the splices of the image, which give it `bytes` bytes; null if these are too many to hold. */
  async splice(splices: readonly Splice[], bytes: number): Promise<HeldImage | null> {
    if (bytes > MAX_HELD_BYTES) return null;
    const texts = new Map<NewText, Uint8Array>();
    for (const text of splices.flatMap((each) => each.texts)) {
      if (!texts.has(text)) texts.set(text, await gather(text.source(), text.bytes));
    }
    const [first] = splices;
    if (first !== undefined && splices.length === 1) {
      this.#reserve(bytes);
      const behind = bytes - (this.length - first.end);
      this.#memory.copyWithin(behind, first.end, this.length);
      fill(this.#memory, first.start, first.texts, texts);
    } else {
      this.#rebuild(splices, texts, bytes);
    }
    this.length = bytes;
    return this;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#memory.length) return;
    const memory = new Uint8Array(Math.min(MAX_HELD_BYTES, 2 * bytes));
    memory.set(this.#memory.subarray(0, this.length));
    this.#memory = memory;
  }

  #rebuild(
    splices: readonly Splice[],
    texts: ReadonlyMap<NewText, Uint8Array>,
    bytes: number,
  ): void {
    const memory = new Uint8Array(bytes);
    let from = 0;
    let to = 0;
    for (const { start, end, texts: added } of splices) {
      memory.set(this.#memory.subarray(from, start), to);
      to = fill(memory, to + start - from, added, texts);
      from = end;
    }
    memory.set(this.#memory.subarray(from, this.length), to);
    this.#memory = memory;
  }
}

/** Returns the offset after the added texts. */
function fill(
  memory: Uint8Array,
  from: number,
  added: readonly NewText[],
  texts: ReadonlyMap<NewText, Uint8Array>,
): number {
  let to = from;
  for (const text of added) {
    memory.set(texts.get(text) ?? new Uint8Array(0), to);
    to += text.bytes;
  }
  return to;
}

async function gather(chunks: AsyncIterable<Uint8Array>, bytes: number): Promise<Uint8Array> {
  const gathered = new Uint8Array(bytes);
  let position = 0;
  for await (const chunk of chunks) {
    gathered.set(chunk, position);
    position += chunk.length;
  }
  return gathered;
}

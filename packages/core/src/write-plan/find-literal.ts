/**
 * Finds a text in a stream of bytes.
 *
 * F1. The result does not depend on how the bytes are divided into chunks.
 * F2. Memory is bounded by one chunk and the length of the needle.
 */
import type { ByteSource } from '@orion/contracts';

/** A match and the whole lines that it touches, as byte offsets. */
export type Place = {
  readonly start: number;
  readonly end: number;
  readonly lineStart: number;
  /** The offset after the ending of the last of these lines. */
  readonly lineEnd: number;
  /** False if that line is the last of the file and has no ending. */
  readonly terminated: boolean;
};

export type Found = {
  /** The number of all places; only the first are listed. */
  readonly count: number;
  readonly places: readonly Place[];
};

export const MAX_LISTED_PLACES = 5;

const LF = 0x0a;

/** Places may overlap, since each is a possible meaning of a marker. `firstLineStart` is the offset of line 1. */
export async function findPlaces(
  read: ByteSource,
  needle: Uint8Array,
  firstLineStart: number,
): Promise<Found> {
  const starts: number[] = [];
  let count = 0;
  for await (const offsets of offsetsIn(read(), needle, 1)) {
    count += offsets.length;
    starts.push(...offsets.slice(0, MAX_LISTED_PLACES - starts.length));
  }
  const places: Place[] = [];
  for (const start of starts) {
    places.push(await placeAt(read(), start, start + needle.length, firstLineStart));
  }
  return { count, places };
}

/** The offsets of all occurrences, in order and without overlap. Stops after `limit` of them. */
export async function findOffsets(
  chunks: AsyncIterable<Uint8Array>,
  needle: Uint8Array,
  limit: number,
): Promise<{ readonly offsets: readonly number[]; readonly limited: boolean }> {
  const found: number[] = [];
  for await (const offsets of offsetsIn(chunks, needle, needle.length)) {
    for (const offset of offsets) {
      if (found.length === limit) return { offsets: found, limited: true };
      found.push(offset);
    }
  }
  return { offsets: found, limited: false };
}

/** The occurrences that end in each chunk. `step`: the least distance from one to the next. */
async function* offsetsIn(
  chunks: AsyncIterable<Uint8Array>,
  needle: Uint8Array,
  step: number,
): AsyncGenerator<readonly number[], void, undefined> {
  let window: Uint8Array = new Uint8Array(0);
  let windowStart = 0;
  for await (const chunk of chunks) {
    window = window.length === 0 ? chunk : Buffer.concat([window, chunk]);
    const view = Buffer.from(window.buffer, window.byteOffset, window.byteLength);
    const offsets: number[] = [];
    let from = 0;
    for (let at = view.indexOf(needle); at !== -1; at = view.indexOf(needle, from)) {
      offsets.push(windowStart + at);
      from = at + step;
    }
    yield offsets;
    from = Math.max(from, window.length - needle.length + 1);
    window = window.subarray(from);
    windowStart += from;
  }
}

/** Finds the whole lines that a match touches. */
async function placeAt(
  chunks: AsyncIterable<Uint8Array>,
  start: number,
  end: number,
  firstLineStart: number,
): Promise<Place> {
  let lineStart = firstLineStart;
  let read = 0;
  for await (const chunk of chunks) {
    if (start > read) {
      const feed = chunk.lastIndexOf(LF, start - read - 1);
      if (feed !== -1) lineStart = read + feed + 1;
    }
    // A match that ends with a line feed ends its line.
    const feed = chunk.indexOf(LF, Math.max(0, end - 1 - read));
    if (feed !== -1) return { start, end, lineStart, lineEnd: read + feed + 1, terminated: true };
    read += chunk.length;
  }
  return { start, end, lineStart, lineEnd: read, terminated: false };
}

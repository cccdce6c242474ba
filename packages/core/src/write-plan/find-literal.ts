/**
 * Finds a text in bytes that pass by.
 *
 * F1. What is found does not depend on how the bytes are divided.
 * F2. Held are the bytes of one chunk and less than one length of what is looked for.
 */
import type { ByteSource } from '@orion/contracts';

/** A place that matches, and the whole lines that it touches; offsets count bytes. */
export type Place = {
  readonly start: number;
  readonly end: number;
  readonly lineStart: number;
  /** After the ending of the line in which it ends. */
  readonly lineEnd: number;
  /** False: that line is the last one and has no ending. */
  readonly terminated: boolean;
};

export type Found = {
  /** All places, of which only the first are listed. */
  readonly count: number;
  readonly places: readonly Place[];
};

export const MAX_LISTED_PLACES = 5;

const LF = 0x0a;

/** Places may overlap: each one is a way to understand a marker. `firstLineStart` is where line 1 begins. */
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

/** Where it stands, in order and without overlap. Stops after `limit` places. */
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

/** Those that end in each chunk. `step`: how far behind the beginning of one the next may begin. */
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

/** With the whole lines that it touches. */
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
    // A place that ends with a line feed ends its line.
    const feed = chunk.indexOf(LF, Math.max(0, end - 1 - read));
    if (feed !== -1) return { start, end, lineStart, lineEnd: read + feed + 1, terminated: true };
    read += chunk.length;
  }
  return { start, end, lineStart, lineEnd: read, terminated: false };
}

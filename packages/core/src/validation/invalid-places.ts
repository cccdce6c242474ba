import type { ByteSource, InvalidPlace, InvalidTextCode } from '@orion/contracts';

import { escaped, firstUnits, lastUnits, shownUnits } from './shown-units.ts';
import { Utf8Scanner } from './utf8-scanner.ts';
import type { Utf8Sink } from './utf8-scanner.ts';
import { invalidCodeOf } from './utf8-sequence.ts';

/** The number of places that a report or a receipt lists; the others are only counted. */
export const MAX_LISTED_PLACES = 1000;

/** The result of a pass over the whole text. */
export type TextReport = {
  /** Of the text. */
  readonly bytes: number;
  /** The number of invalid places, listed or not. */
  readonly count: number;
  /** The first of them, up to the limit. */
  readonly places: readonly InvalidPlace[];
};

/**
 * Finds the invalid places of a text and lists the first `limit` of them with position and context. All are counted; to
 * get those after the limit, a caller corrects the first ones and calls again. Memory depends on the limit alone.
 */
export async function findInvalidPlaces(source: ByteSource, limit: number): Promise<TextReport> {
  const finder = new PlaceFinder(limit);
  const scanner = new Utf8Scanner(finder);
  for await (const chunk of source()) scanner.push(chunk);
  scanner.end();
  return finder.report();
}

/** Code units on each side of a place. */
const CONTEXT_UNITS = 20;
/** Enough bytes for these units, at most three each, and for part of the preceding code point. */
const CONTEXT_BYTES = 3 * CONTEXT_UNITS + 4;

type FoundPlace = {
  readonly place: Omit<InvalidPlace, 'context'>;
  readonly before: string;
  readonly invalid: string;
  /** Collected until there is enough of it. */
  after: Uint8Array;
};

class PlaceFinder implements Utf8Sink {
  readonly #limit: number;
  #bytes = 0;
  #count = 0;
  #units = 0;
  #line = 1;
  #lineStart = 0;
  /** A copy of the last bytes, as many as a context needs. */
  #behind: Uint8Array = new Uint8Array(0);
  readonly #found: FoundPlace[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  valid(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes += end - start;
    if (this.#isIdle()) return;
    this.#continueContexts(bytes, start, end);
    this.#countUnits(bytes, start, end);
    this.#remember(bytes, start, end);
  }

  invalid(bytes: Uint8Array, start: number, end: number, known: number): void {
    const isIdle = this.#isIdle();
    this.#count += 1;
    if (!isIdle) {
      this.#continueContexts(bytes, start, end);
      if (this.#count <= this.#limit) {
        const code = invalidCodeOf(bytes, start, end - start, known);
        this.#addPlace(code, end - start, escaped(bytes, start, end));
      }
      this.#units += 1;
      this.#remember(bytes, start, end);
    }
    this.#bytes += end - start;
  }

  report(): TextReport {
    const places = this.#found.map(({ place, before, invalid, after }) => ({
      ...place,
      context: { before, invalid, after: firstUnits(shownUnits(after), CONTEXT_UNITS) },
    }));
    return { bytes: this.#bytes, count: this.#count, places };
  }

  /** All listed places are complete; only the count continues. */
  #isIdle(): boolean {
    return this.#count >= this.#limit && isComplete(this.#found.at(-1));
  }

  #addPlace(code: InvalidTextCode, byteLength: number, invalid: string): void {
    this.#found.push({
      place: {
        index: this.#count,
        position: this.#units,
        byte_offset: this.#bytes,
        byte_length: byteLength,
        line: this.#line,
        column: this.#units - this.#lineStart + 1,
        code,
      },
      before: lastUnits(shownUnits(fromSequenceStart(this.#behind)), CONTEXT_UNITS),
      invalid,
      after: new Uint8Array(0),
    });
  }

  #continueContexts(bytes: Uint8Array, start: number, end: number): void {
    // They become complete in the order in which they were found.
    for (let index = this.#found.length - 1; index >= 0; index -= 1) {
      const found = this.#found[index];
      if (found === undefined || isComplete(found)) return;
      const missing = CONTEXT_BYTES - found.after.length;
      const more = bytes.subarray(start, Math.min(end, start + missing));
      found.after = Buffer.concat([found.after, more]);
    }
  }

  #countUnits(bytes: Uint8Array, start: number, end: number): void {
    for (let index = start; index < end; index += 1) {
      const byte = bytes[index] ?? 0;
      if ((byte & 0xc0) === 0x80) continue;
      this.#units += byte >= 0xf0 ? 2 : 1;
      if (byte !== 0x0a) continue;
      this.#line += 1;
      this.#lineStart = this.#units;
    }
  }

  #remember(bytes: Uint8Array, start: number, end: number): void {
    const last = bytes.subarray(Math.max(start, end - CONTEXT_BYTES), end);
    this.#behind = Buffer.concat([this.#behind, last]).subarray(-CONTEXT_BYTES);
  }
}

function isComplete(found: FoundPlace | undefined): boolean {
  return found === undefined || found.after.length >= CONTEXT_BYTES;
}

/** Without the at most three bytes of a code point whose start is missing. */
function fromSequenceStart(bytes: Uint8Array): Uint8Array {
  if (bytes.length < CONTEXT_BYTES) return bytes;
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

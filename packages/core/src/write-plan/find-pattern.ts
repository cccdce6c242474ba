/**
 * Finds the lines that a regular expression matches.
 *
 * G1. A line is matched without its ending, so that CRLF and LF files match alike.
 * G2. Lines that are not valid UTF-8 are matched byte by byte as Latin-1.
 * G3. Whole lines are handed over, about a quarter of a mebibyte at a time.
 */
import { OrionError } from '@orion/contracts';
import type { PatternMatch, PatternSearch } from '@orion/contracts';

import { MAX_LISTED_PLACES } from './find-literal.ts';
import type { Found, Place } from './find-literal.ts';

const LF = 0x0a;
const BATCH_BYTES = 256 * 1024;
const MAX_LINE_BYTES = 8 * 1024 * 1024;

export async function findPattern(
  chunks: AsyncIterable<Uint8Array>,
  search: PatternSearch,
  firstLineStart: number,
): Promise<Found> {
  const places: Place[] = [];
  let count = 0;

  for await (const { bytes, start, last } of batches(chunks)) {
    const skipped = Math.max(0, firstLineStart - start);
    const batch = linesOf(bytes.subarray(skipped), last);
    const found = await search.match(batch.lines);
    count += found.count;
    const listed = found.matches.slice(0, MAX_LISTED_PLACES - places.length);
    places.push(...placesOf(batch, listed, start + skipped));
  }
  return { count, places };
}

type Batch = { readonly bytes: Uint8Array; readonly start: number; readonly last: boolean };

/** Each ends with a line feed, but for the last one, which may be empty. */
async function* batches(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Batch, void, undefined> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let start = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < BATCH_BYTES) continue;
    const end = chunk.lastIndexOf(LF) + 1;
    if (end === 0) {
      if (heldBytes > MAX_LINE_BYTES) throw tooLong();
      continue;
    }
    held[held.length - 1] = chunk.subarray(0, end);
    const bytes = Buffer.concat(held);
    yield { bytes, start, last: false };
    start += bytes.length;
    held = [chunk.subarray(end)];
    heldBytes = chunk.length - end;
  }
  yield { bytes: Buffer.concat(held), start, last: true };
}

type Lines = {
  readonly lines: readonly string[];
  readonly encoding: 'utf8' | 'latin1';
  /** Bytes of each line's ending. */
  readonly endings: readonly number[];
};

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function linesOf(bytes: Uint8Array, last: boolean): Lines {
  let text: string;
  let encoding: Lines['encoding'] = 'utf8';
  try {
    text = decoder.decode(bytes);
  } catch {
    text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    encoding = 'latin1';
  }
  const lines = text.split('\n');
  const endings = lines.map(() => 1);
  // What follows the last line feed is a line only at the end of the file, and only if there is something.
  if (!last || lines.at(-1) === '') {
    lines.pop();
    endings.pop();
  } else {
    endings[endings.length - 1] = 0;
  }
  for (const [index, line] of lines.entries()) {
    if (endings[index] === 0 || !line.endsWith('\r')) continue;
    lines[index] = line.slice(0, -1);
    endings[index] = 2;
  }
  return { lines, encoding, endings };
}

function placesOf(
  { lines, encoding, endings }: Lines,
  matches: readonly PatternMatch[],
  start: number,
): readonly Place[] {
  const places: Place[] = [];
  let index = 0;
  let lineStart = start;
  for (const match of matches) {
    for (; index < match.line; index += 1) {
      lineStart += Buffer.byteLength(lines[index] ?? '', encoding) + (endings[index] ?? 0);
    }
    const line = lines[match.line] ?? '';
    const ending = endings[match.line] ?? 0;
    places.push({
      start: lineStart + Buffer.byteLength(line.slice(0, match.start), encoding),
      end: lineStart + Buffer.byteLength(line.slice(0, match.end), encoding),
      lineStart,
      lineEnd: lineStart + Buffer.byteLength(line, encoding) + ending,
      terminated: ending > 0,
    });
  }
  return places;
}

function tooLong(): OrionError {
  return new OrionError({
    code: 'INVALID_OPERATION',
    message: `A line has more than ${MAX_LINE_BYTES} bytes; a regex is not matched against it.`,
    hint: 'Use a marker of type string.',
  });
}

/**
 * Finds the lines that a regular expression matches.
 *
 * G1. Lines are matched without their endings, so that CRLF and LF files give the same matches.
 * G2. A batch that is not valid UTF-8 is matched as Latin-1, byte by byte.
 * G3. Whole lines are passed to the matcher, about 256 KiB at a time.
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

  for await (const { bytes, start } of batches(chunks)) {
    const skipped = Math.max(0, firstLineStart - start);
    const batch = linesOf(bytes.subarray(skipped));
    const found = await search.match(batch.rows.map((row) => row.replace(/\r?\n$/u, '')));
    count += found.count;
    const listed = found.matches.slice(0, MAX_LISTED_PLACES - places.length);
    places.push(...placesOf(batch, listed, start + skipped));
  }
  return { count, places };
}

type Batch = { readonly bytes: Uint8Array; readonly start: number };

/** All but the last end with a line feed; the last may be empty. */
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
    yield { bytes, start };
    start += bytes.length;
    held = [chunk.subarray(end)];
    heldBytes = chunk.length - end;
  }
  yield { bytes: Buffer.concat(held), start };
}

type Lines = {
  /** Lines with their endings. */
  readonly rows: readonly string[];
  readonly encoding: 'utf8' | 'latin1';
};

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function linesOf(bytes: Uint8Array): Lines {
  if (bytes.length === 0) return { rows: [], encoding: 'utf8' };
  try {
    return { rows: rowsOf(decoder.decode(bytes)), encoding: 'utf8' };
  } catch {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    return { rows: rowsOf(text), encoding: 'latin1' };
  }
}

function rowsOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/u);
}

function placesOf(
  { rows, encoding }: Lines,
  matches: readonly PatternMatch[],
  start: number,
): readonly Place[] {
  const places: Place[] = [];
  let index = 0;
  let lineStart = start;
  for (const match of matches) {
    for (; index < match.line; index += 1) {
      lineStart += Buffer.byteLength(rows[index] ?? '', encoding);
    }
    const row = rows[match.line] ?? '';
    places.push({
      start: lineStart + Buffer.byteLength(row.slice(0, match.start), encoding),
      end: lineStart + Buffer.byteLength(row.slice(0, match.end), encoding),
      lineStart,
      lineEnd: lineStart + Buffer.byteLength(row, encoding),
      terminated: row.endsWith('\n'),
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

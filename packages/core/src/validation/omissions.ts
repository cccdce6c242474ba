import type { ByteSource } from '@orion/contracts';

import { isOmission, LONGEST_OMISSION } from './omission-line.ts';

/** A line that is a placeholder for omitted text. */
export type Omission = {
  /** Counted from 1. */
  readonly line: number;
  /** Without surrounding blanks. */
  readonly text: string;
};

/** More of them would add nothing. */
const MOST_OMISSIONS = 20;
/** How many lines an old file can excuse; it has more only if it is a list of such lines. */
const MOST_EXCUSED = 1000;
/** In UTF-8, with surrounding blanks. */
const MOST_BYTES = 4 * LONGEST_OMISSION;

/**
 * The first 20 lines of a text that are placeholders for omitted text. Lines that the file contained before do not
 * count, as a text that replaces the whole file repeats them.
 */
export async function findOmissions(
  text: ByteSource,
  previous: ByteSource | null,
): Promise<readonly Omission[]> {
  return findOmissionsBut(text, async () => (previous === null ? new Set() : excusedBy(previous)));
}

/** The lines of this kind in a file that is replaced. */
export async function excusedBy(previous: ByteSource): Promise<ReadonlySet<string>> {
  return new Set((await collect(previous, MOST_EXCUSED)).map((each) => each.text));
}

/** The same for several texts that replace parts of one file; `excusedLines` is called only if something was found. */
export async function findOmissionsBut(
  text: ByteSource,
  excusedLines: () => Promise<ReadonlySet<string>>,
): Promise<readonly Omission[]> {
  const found = await collect(text, MOST_EXCUSED);
  if (found.length === 0) return [];
  const excused = await excusedLines();
  return found.filter((each) => !excused.has(each.text)).slice(0, MOST_OMISSIONS);
}

async function collect(source: ByteSource, most: number): Promise<readonly Omission[]> {
  const found: Omission[] = [];
  for await (const { line, text } of commentLike(source)) {
    if (!isOmission(text)) continue;
    found.push({ line, text: text.trim() });
    if (found.length >= most) break;
  }
  return found;
}

/** Short lines that start like a comment or a placeholder; the others are never decoded. */
async function* commentLike(source: ByteSource): AsyncGenerator<Omission, void, undefined> {
  const decoder = new TextDecoder();
  /** The start of a line that continues in the next chunk. */
  let open: Uint8Array | null = new Uint8Array(0);
  let line = 1;
  for await (const chunk of source()) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      const whole = shortLine(open, bytes.subarray(start, end));
      if (beginsLikeOne(whole)) yield { line, text: decoder.decode(whole) };
      open = new Uint8Array(0);
      line += 1;
      start = end + 1;
    }
    const rest = shortLine(open, bytes.subarray(start));
    // A copy, as the source may reuse the chunk's memory.
    open = rest === null ? null : new Uint8Array(rest);
  }
  if (beginsLikeOne(open)) yield { line, text: decoder.decode(open) };
}

/** Null if the line is too long. */
function shortLine(open: Uint8Array | null, more: Uint8Array): Uint8Array | null {
  if (open === null || open.length + more.length > MOST_BYTES) return null;
  return open.length === 0 ? more : Buffer.concat([open, more]);
}

const LF = 0x0a;
/** Every character that can start a comment or a placeholder, and the first byte of an ellipsis. */
const BEGINNINGS: ReadonlySet<number> = new Set([...Buffer.from("/#-;%'*<{([.@Rrd"), 0xe2]);

function beginsLikeOne(line: Uint8Array | null): line is Uint8Array {
  const first = line?.find((byte) => byte !== 0x20 && byte !== 0x09);
  return first !== undefined && BEGINNINGS.has(first);
}

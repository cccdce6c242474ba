import type { ByteSource } from '@orion/contracts';

import { isOmission, LONGEST_OMISSION } from './omission-line.ts';

/** A line that stands for text that was left out. */
export type Omission = {
  /** Counted from 1. */
  readonly line: number;
  /** Without the blanks around it. */
  readonly text: string;
};

/** More of them say nothing that the first ones do not. */
const MOST_OMISSIONS = 20;
/** What an old file can excuse; it holds more only if it is itself a list of such lines. */
const MOST_EXCUSED = 1000;
/** In UTF-8, with blanks around it. */
const MOST_BYTES = 4 * LONGEST_OMISSION;

/**
 * The lines of a text that speak of left-out text, the first 20 of them. Lines that the file has held before are
 * none: whoever writes the whole file writes them too.
 */
export async function findOmissions(
  text: ByteSource,
  previous: ByteSource | null,
): Promise<readonly Omission[]> {
  return findOmissionsBut(text, async () => (previous === null ? new Set() : excusedBy(previous)));
}

/** What a file that is replaced has of such lines itself. */
export async function excusedBy(previous: ByteSource): Promise<ReadonlySet<string>> {
  return new Set((await collect(previous, MOST_EXCUSED)).map((each) => each.text));
}

/** The same where many texts replace parts of one file; `excusedLines` is called only if something was found. */
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

/** Short lines that begin like a comment or like an omission; the others are never decoded. */
async function* commentLike(source: ByteSource): AsyncGenerator<Omission, void, undefined> {
  const decoder = new TextDecoder();
  /** The beginning of a line that goes on in the next chunk. */
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
    // A copy: the source may use the chunk's memory again.
    open = rest === null ? null : new Uint8Array(rest);
  }
  if (beginsLikeOne(open)) yield { line, text: decoder.decode(open) };
}

/** Null where the line is too long. */
function shortLine(open: Uint8Array | null, more: Uint8Array): Uint8Array | null {
  if (open === null || open.length + more.length > MOST_BYTES) return null;
  return open.length === 0 ? more : Buffer.concat([open, more]);
}

const LF = 0x0a;
/** Every character with which a comment or an omission begins, and the first byte of an ellipsis. */
const BEGINNINGS: ReadonlySet<number> = new Set([...Buffer.from("/#-;%'*<{([.@Rrd"), 0xe2]);

function beginsLikeOne(line: Uint8Array | null): line is Uint8Array {
  const first = line?.find((byte) => byte !== 0x20 && byte !== 0x09);
  return first !== undefined && BEGINNINGS.has(first);
}

/**
 * The text of an operation: checked, counted, and given the line endings of the file it goes into.
 *
 * N1. Nothing that is not valid text passes, and the verdict does not depend on how the bytes are divided.
 * N2. Only bare line feeds are changed, and only in a file whose lines all end in CRLF.
 */
import { OrionError } from '@orion/contracts';
import type { ByteSource, LineEnding, PlanContent } from '@orion/contracts';

import { findInvalidPlaces, MAX_LISTED_PLACES } from '../validation/invalid-places.ts';
import { validatedText } from '../validation/validated-text.ts';
import { textOf } from './file-image.ts';
import { withoutMark } from './fitting-text.ts';
import type { NewText } from './file-image.ts';

const LF = 0x0a;
const CR = 0x0d;
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];
export const byteOrderMark: NewText = textOf(Uint8Array.from(BOM));

export type CheckedText = NewText & {
  readonly lineFeeds: number;
  readonly eol: LineEnding;
  readonly bareLineFeeds: number;
  /** Bytes of the line ending that it ends with: 0, 1 or 2. */
  readonly finalLineEnding: number;
  readonly bom: boolean;
};

/**
 * Rejects with INVALID_CONTENT, naming the first invalid places, and with VALIDATION_FAILED when the text cannot be
 * read.
 */
export async function checkNewText(content: PlanContent, target: string): Promise<CheckedText> {
  const source = sourceOf(content);
  const text = validatedText(source, target);
  const tally = new Tally();
  try {
    for await (const chunk of text.source()) tally.add(chunk);
  } catch (error) {
    if (!OrionError.isInstance(error) || error.code !== 'INVALID_CONTENT') throw error;
    throw await invalidText(source, target, error);
  }
  // Read again it is validated again: what was saved may have changed on the disk.
  return { source: text.source, bytes: text.bytes(), ...tally.result() };
}

/** What is counted while the bytes pass by. */
class Tally {
  #lineFeeds = 0;
  #bareLineFeeds = 0;
  #last = -1;
  #beforeLast = -1;
  readonly #head: number[] = [];

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      this.#lineFeeds += 1;
      if ((at === 0 ? this.#last : chunk[at - 1]) !== CR) this.#bareLineFeeds += 1;
    }
    this.#beforeLast = chunk.length > 1 ? (chunk[chunk.length - 2] ?? -1) : this.#last;
    this.#last = chunk[chunk.length - 1] ?? -1;
    for (const byte of chunk.subarray(0, BOM.length - this.#head.length)) this.#head.push(byte);
  }

  result(): Omit<CheckedText, keyof NewText> {
    const lineEnding = this.#beforeLast === CR ? 2 : 1;
    return {
      lineFeeds: this.#lineFeeds,
      bareLineFeeds: this.#bareLineFeeds,
      eol: endingOf(this.#lineFeeds, this.#bareLineFeeds),
      finalLineEnding: this.#last === LF ? lineEnding : 0,
      bom: BOM.every((byte, index) => this.#head[index] === byte),
    };
  }
}

/** Line feeds, and one more for a last line without one. */
export function lineCount(text: CheckedText): number {
  return text.lineFeeds + (text.bytes > 0 && text.finalLineEnding === 0 ? 1 : 0);
}

/** Without the byte order mark that it begins with. */
export function withoutFirstMark(text: CheckedText): CheckedText {
  if (!text.bom) return text;
  return {
    ...text,
    source: withoutMark(text.source).source,
    bytes: text.bytes - BOM.length,
    bom: false,
  };
}

/** With CRLF wherever it has a bare line feed. */
export function withCrlf(text: CheckedText): CheckedText {
  if (text.bareLineFeeds === 0) return text;
  return {
    ...text,
    source: () => convertToCrlf(text.source()),
    bytes: text.bytes + text.bareLineFeeds,
    bareLineFeeds: 0,
    eol: 'crlf',
    finalLineEnding: text.finalLineEnding === 0 ? 0 : 2,
  };
}

async function* convertToCrlf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let last = -1;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    const places: number[] = [];
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      if ((at === 0 ? last : chunk[at - 1]) !== CR) places.push(at);
    }
    last = chunk[chunk.length - 1] ?? -1;
    if (places.length === 0) {
      yield chunk;
      continue;
    }
    const converted = new Uint8Array(chunk.length + places.length);
    let from = 0;
    let to = 0;
    for (const at of places) {
      converted.set(chunk.subarray(from, at), to);
      to += at - from;
      converted[to] = CR;
      to += 1;
      from = at;
    }
    converted.set(chunk.subarray(from), to);
    yield converted;
  }
}

export function sourceOf(content: PlanContent): ByteSource {
  return content.kind === 'bytes' ? content.source : textOf(encoded(content.text)).source;
}

/** Halves of surrogate pairs as three bytes each: encoding would hide them behind a replacement character. */
function encoded(text: string): Uint8Array {
  if (text.isWellFormed()) return new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  // With this flag a lone half is a character of its own.
  for (const [piece] of text.matchAll(/[\uD800-\uDFFF]|[^\uD800-\uDFFF]+/gu)) {
    const unit = piece.charCodeAt(0);
    pieces.push(
      piece.isWellFormed()
        ? new TextEncoder().encode(piece)
        : Uint8Array.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)),
    );
  }
  return Buffer.concat(pieces);
}

async function invalidText(
  source: ByteSource,
  target: string,
  cause: OrionError,
): Promise<OrionError> {
  const { places, count } = await findInvalidPlaces(source, MAX_LISTED_PLACES);
  const [first] = places;
  // Something outside has changed it since.
  if (first === undefined) return cause;
  const others = count === 1 ? '' : ` and ${count - 1} more`;
  return new OrionError({
    code: 'INVALID_CONTENT',
    message: `The text for ${target} is no valid text at line ${first.line}, column ${first.column} (byte ${first.byte_offset})${others}; nothing was written.`,
    details: { byte_offset: first.byte_offset, invalid_count: count, invalid_contexts: places },
    cause,
  });
}

function endingOf(lineFeeds: number, bare: number): LineEnding {
  if (lineFeeds === 0) return 'none';
  if (bare === 0) return 'crlf';
  return bare === lineFeeds ? 'lf' : 'mixed';
}

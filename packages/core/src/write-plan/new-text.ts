/**
 * The text of an operation: checked, counted, and given the line endings of the file it goes into.
 *
 * N1. Nothing that is not valid text passes, and the verdict does not depend on how the bytes are divided.
 * N2. Only bare line feeds are changed, and only in a file whose lines all end in CRLF.
 */
import { OrionError } from '@orion/contracts';
import type { ByteSource, LineEnding, PlanContent } from '@orion/contracts';

import { validatedText } from '../validation/validated-text.ts';
import { textOf } from './file-image.ts';
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
 * Rejects with INVALID_CONTENT, naming the first invalid byte, and with VALIDATION_FAILED when the text cannot be
 * read.
 */
export async function checkNewText(content: PlanContent, target: string): Promise<CheckedText> {
  const text = validatedText(sourceOf(content, target), target);
  const tally = new Tally();
  for await (const chunk of text.source()) tally.add(chunk);
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

export function sourceOf(content: PlanContent, target: string): ByteSource {
  if (content.kind === 'bytes') return content.source;
  // Encoding would hide a lone surrogate behind a replacement character.
  if (!content.text.isWellFormed()) {
    throw new OrionError({
      code: 'INVALID_CONTENT',
      message: `The text for ${target} has half of a surrogate pair; nothing was written.`,
    });
  }
  return textOf(new TextEncoder().encode(content.text)).source;
}

function endingOf(lineFeeds: number, bare: number): LineEnding {
  if (lineFeeds === 0) return 'none';
  if (bare === 0) return 'crlf';
  return bare === lineFeeds ? 'lf' : 'mixed';
}

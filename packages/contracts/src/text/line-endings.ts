import type { LineEnding } from '../write-session.ts';

const LF = 0x0a;
const CR = 0x0d;
export const BYTE_ORDER_MARK: Uint8Array = Uint8Array.of(0xef, 0xbb, 0xbf);

export function countLineFeeds(text: Uint8Array | string): number {
  const next = (from: number): number =>
    typeof text === 'string' ? text.indexOf('\n', from) : text.indexOf(LF, from);
  let count = 0;
  for (let at = next(0); at !== -1; at = next(at + 1)) count += 1;
  return count;
}

/** Counts lines and line endings of a byte stream. The result does not depend on how the bytes are split. */
export class TextTally {
  bytes = 0;
  lineFeeds = 0;
  /** Line feeds with a CR before them. */
  crlf = 0;
  #last = -1;
  #beforeLast = -1;
  readonly #head: number[] = [];

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    for (const byte of chunk.subarray(0, BYTE_ORDER_MARK.length - this.#head.length))
      this.#head.push(byte);
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      this.lineFeeds += 1;
      if ((at === 0 ? this.#last : chunk[at - 1]) === CR) this.crlf += 1;
    }
    this.#beforeLast = chunk.length > 1 ? (chunk.at(-2) ?? -1) : this.#last;
    this.#last = chunk.at(-1) ?? -1;
    this.bytes += chunk.length;
  }

  /** The number of line feeds, plus one for an unterminated last line. */
  lines(): number {
    return this.lineFeeds + (this.bytes > 0 && this.#last !== LF ? 1 : 0);
  }

  /** -1 before the first byte. */
  lastByte(): number {
    return this.#last;
  }

  /** The length of the final line ending in bytes: 0, 1 or 2. */
  finalLineEnding(): number {
    if (this.#last !== LF) return 0;
    return this.#beforeLast === CR ? 2 : 1;
  }

  eol(): LineEnding {
    if (this.lineFeeds === 0) return 'none';
    if (this.crlf === 0) return 'lf';
    return this.crlf === this.lineFeeds ? 'crlf' : 'mixed';
  }

  bom(): boolean {
    return BYTE_ORDER_MARK.every((byte, index) => this.#head[index] === byte);
  }
}

/**
 * Converts every LF without a preceding CR into CRLF, however the bytes are split. `last` is the byte before the
 * first chunk, -1 for none.
 */
export class CrlfConverter {
  /** The number of CRLFs in the input. */
  found = 0;
  #last: number;

  constructor(last: number = -1) {
    this.#last = last;
  }

  /** Returns the chunk itself if there is nothing to convert. */
  push(chunk: Uint8Array): Uint8Array {
    const bare: number[] = [];
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      if ((at === 0 ? this.#last : chunk[at - 1]) === CR) this.found += 1;
      else bare.push(at);
    }
    this.#last = chunk.at(-1) ?? this.#last;
    return bare.length === 0 ? chunk : withCarriageReturns(chunk, bare);
  }
}

function withCarriageReturns(chunk: Uint8Array, before: readonly number[]): Uint8Array {
  const out = new Uint8Array(chunk.length + before.length);
  let from = 0;
  let to = 0;
  for (const at of before) {
    out.set(chunk.subarray(from, at), to);
    to += at - from;
    out[to] = CR;
    to += 1;
    from = at;
  }
  out.set(chunk.subarray(from), to);
  return out;
}

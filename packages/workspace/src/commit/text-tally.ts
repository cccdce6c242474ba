import type { LineEnding } from '@orion/contracts';

const LF = 0x0a;
const CR = 0x0d;
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];

export function countLineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

/** Counts lines and looks at line endings while bytes pass by; any split gives the same result. */
export class TextTally {
  bytes = 0;
  #lineFeeds = 0;
  #crlf = 0;
  #last = -1;
  readonly #head: number[] = [];

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    for (let index = 0; this.#head.length < BOM.length && index < chunk.length; index += 1) {
      this.#head.push(chunk[index] ?? 0);
    }
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      this.#lineFeeds += 1;
      if ((at === 0 ? this.#last : chunk[at - 1]) === CR) this.#crlf += 1;
    }
    this.#last = chunk[chunk.length - 1] ?? -1;
    this.bytes += chunk.length;
  }

  /** Line feeds, and one more for a last line without one. */
  lines(): number {
    return this.#lineFeeds + (this.bytes > 0 && this.#last !== LF ? 1 : 0);
  }

  /** -1 before the first byte. */
  lastByte(): number {
    return this.#last;
  }

  eol(): LineEnding {
    if (this.#lineFeeds === 0) return 'none';
    if (this.#crlf === 0) return 'lf';
    return this.#crlf === this.#lineFeeds ? 'crlf' : 'mixed';
  }

  bom(): boolean {
    return BOM.every((byte, index) => this.#head[index] === byte);
  }
}

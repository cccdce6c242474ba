/** What a command has printed, as far as it was kept. */
export type CapturedOutput = {
  /** The beginning; everything where nothing was left out. */
  readonly head: string;
  /** The end; empty where nothing was left out. */
  readonly tail: string;
  /** Everything that was printed. */
  readonly bytes: number;
  /** What was printed between `head` and `tail`. */
  readonly omittedBytes: number;
};

/**
 * Keeps the beginning and the end of an output of any length, half of the limit each.
 *
 * Memory is bounded by twice the limit, the cost by the length, however the output is divided. Bytes that are not
 * UTF-8 become U+FFFD; a character that the gap has cut is left out.
 */
export class BoundedOutput {
  readonly #half: number;
  #head = Buffer.alloc(0);
  #headBytes = 0;
  /** A ring; the next byte goes to `#tailBytes % #half`. Made when the head is full. */
  #ring: Buffer | null = null;
  #tailBytes = 0;

  constructor(maxBytes: number) {
    this.#half = Math.floor(maxBytes / 2);
  }

  push(chunk: Uint8Array): void {
    const toHead = Math.min(chunk.length, this.#half - this.#headBytes);
    this.#growHead(this.#headBytes + toHead);
    this.#head.set(chunk.subarray(0, toHead), this.#headBytes);
    this.#headBytes += toHead;
    if (toHead < chunk.length) this.#pushTail(chunk.subarray(toHead));
  }

  result(): CapturedOutput {
    const kept = Math.min(this.#tailBytes, this.#half);
    const omittedBytes = this.#tailBytes - kept;
    const bytes = this.#headBytes + this.#tailBytes;
    const head = this.#head.subarray(0, this.#headBytes);
    const at = this.#tailBytes % this.#half;
    const tail =
      this.#ring === null
        ? Buffer.alloc(0)
        : omittedBytes === 0
          ? this.#ring.subarray(0, kept)
          : Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]);
    if (omittedBytes === 0) {
      return { head: Buffer.concat([head, tail]).toString('utf8'), tail: '', bytes, omittedBytes };
    }
    let start = 0;
    while (start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return {
      head: new TextDecoder('utf-8', { ignoreBOM: true }).decode(head, { stream: true }),
      tail: tail.toString('utf8', start),
      bytes,
      omittedBytes,
    };
  }

  #growHead(needed: number): void {
    if (needed <= this.#head.length) return;
    const grown = Buffer.alloc(Math.min(this.#half, Math.max(needed, this.#head.length * 2, 4096)));
    grown.set(this.#head);
    this.#head = grown;
  }

  #pushTail(bytes: Uint8Array): void {
    this.#ring ??= Buffer.alloc(this.#half);
    // Of a chunk longer than the ring only the end can stay.
    const skipped = Math.max(0, bytes.length - this.#half);
    this.#tailBytes += skipped;
    for (let from = skipped; from < bytes.length;) {
      const at = this.#tailBytes % this.#half;
      const part = bytes.subarray(from, from + this.#half - at);
      this.#ring.set(part, at);
      this.#tailBytes += part.length;
      from += part.length;
    }
  }
}

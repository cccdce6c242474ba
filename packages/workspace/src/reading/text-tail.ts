import { incompleteTail } from '../session-dir/wtf8.ts';

const LF = 0x0a;

/** Keeps the last bytes of a text while it is read. */
export class TextTail {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #kept = 0;
  #isCut = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    if (this.#maxBytes === 0) return;
    this.#chunks.push(chunk);
    this.#kept += chunk.length;
    // Not at every chunk: each byte is copied once on average.
    if (this.#kept > 2 * this.#maxBytes + chunk.length) this.#shorten();
  }

  /** The whole lines among them; if there are none, all of them that are whole characters. */
  lines(): Buffer {
    this.#shorten();
    const [all = Buffer.alloc(0)] = this.#chunks;
    if (!this.#isCut) return all;
    const feed = all.indexOf(LF);
    if (feed !== -1 && feed < all.length - 1) return all.subarray(feed + 1);
    let start = 0;
    while (start < Math.min(4, all.length) && ((all[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return all.subarray(start, all.length - incompleteTail(all));
  }

  #shorten(): void {
    const all = Buffer.concat(this.#chunks);
    this.#isCut ||= all.length > this.#maxBytes;
    this.#chunks = [all.subarray(Math.max(0, all.length - this.#maxBytes))];
    this.#kept = this.#chunks[0]?.length ?? 0;
  }
}

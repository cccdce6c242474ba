/**
 * Decodes a content file as it was encoded: UTF-8 in which a lone surrogate is encoded as three bytes (WTF-8).
 * Text that is decoded and encoded again has the same number of bytes.
 */
export class ContentDecoder {
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #rest: Uint8Array = new Uint8Array(0);

  decode(chunk: Uint8Array): string {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let text = '';
    let start = 0;
    for (let index = bytes.indexOf(0xed); index !== -1; index = bytes.indexOf(0xed, index + 1)) {
      if (index + 2 >= bytes.length) break;
      const second = bytes[index + 1] ?? 0;
      if (second < 0xa0) continue;
      text += this.#decoder.decode(bytes.subarray(start, index), { stream: true });
      text += String.fromCharCode(
        0xd000 | ((second & 0x3f) << 6) | ((bytes[index + 2] ?? 0) & 0x3f),
      );
      start = index + 3;
    }
    const end = incompleteSurrogate(bytes, start);
    this.#rest = end === bytes.length ? new Uint8Array(0) : Uint8Array.from(bytes.subarray(end));
    return text + this.#decoder.decode(bytes.subarray(start, end), { stream: true });
  }

  end(): string {
    const text = this.#decoder.decode(this.#rest, { stream: true }) + this.#decoder.decode();
    this.#rest = new Uint8Array(0);
    return text;
  }
}

/** Where the last bytes may begin a surrogate that is not complete yet. */
function incompleteSurrogate(bytes: Uint8Array, start: number): number {
  for (let back = 1; back <= 2 && bytes.length - back >= start; back += 1) {
    if (bytes[bytes.length - back] === 0xed) return bytes.length - back;
  }
  return bytes.length;
}

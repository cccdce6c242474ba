/** Decodes what `encodeWtf8` of the contracts encoded. */
import { isUtf8 } from 'node:buffer';

/** The number of bytes, 0 to 3, of an incomplete code point at the end. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
  }
  return 0;
}

/** Decodes a WTF-8 stream chunk by chunk. Invalid bytes become U+FFFD. */
export class Wtf8Decoder {
  #rest: Buffer = Buffer.alloc(0);

  decode(chunk: Uint8Array): string {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const tail = incompleteTail(bytes);
    this.#rest = bytes.subarray(bytes.length - tail);
    return decodeWhole(bytes.subarray(0, bytes.length - tail));
  }

  end(): string {
    const text = decodeWhole(this.#rest);
    this.#rest = Buffer.alloc(0);
    return text;
  }
}

function decodeWhole(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  let from = 0;
  for (let at = bytes.indexOf(0xed); at !== -1; at = bytes.indexOf(0xed, at + 1)) {
    const second = bytes[at + 1] ?? 0;
    const third = bytes[at + 2] ?? 0;
    if (second < 0xa0 || second > 0xbf || (third & 0xc0) !== 0x80) continue;
    text += bytes.toString('utf8', from, at);
    text += String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f));
    from = at + 3;
  }
  return text + bytes.toString('utf8', from);
}

import type { ByteSource } from '@orion/contracts';
import fc from 'fast-check';

export const CHUNK_SIZES: readonly number[] = [1, 2, 3, 7, 1000, 4096];

/** The bytes in pieces of one size, each in the same buffer: whoever keeps a view of a piece keeps rubbish. */
export function inChunks(bytes: Uint8Array, size: number): ByteSource {
  return async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const buffer = new Uint8Array(size);
    for (let start = 0; start < bytes.length; start += size) {
      const piece = bytes.subarray(start, start + size);
      buffer.set(piece);
      yield buffer.subarray(0, piece.length);
      buffer.fill(0xff);
    }
  };
}

export async function collect(source: ByteSource): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of source()) parts.push(chunk.slice());
  return Buffer.concat(parts);
}

/** What the platform's decoder makes of the bytes, with one U+FFFD for U+0000 and for a lone surrogate too. */
export function decodedByThePlatform(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const prepared = text.replaceAll(/\xed[\xa0-\xbf][\x80-\xbf]|\0/gu, '\xef\xbf\xbd');
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return new TextEncoder().encode(decoder.decode(Buffer.from(prepared, 'latin1')));
}

const PIECES: readonly (readonly number[])[] = [
  [0x41],
  [0x0a],
  [0x0d, 0x0a],
  [0x00],
  [0xc3, 0xa9],
  [0xe2, 0x82, 0xac],
  [0xf0, 0x9f, 0x98, 0x80],
  [0xef, 0xbb, 0xbf],
  [0xef, 0xbf, 0xbf],
  [0xf4, 0x8f, 0xbf, 0xbf],
  [0xed, 0x9f, 0xbf],
  [0xed, 0xa0, 0xbd],
  [0xed, 0xb8, 0x80],
  [0xed, 0xa0],
  [0xed],
  [0x80],
  [0xbf, 0xbf],
  [0xc0, 0x80],
  [0xc1],
  [0xc3],
  [0xe0, 0x80, 0x80],
  [0xe2, 0x82],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf0, 0x9f],
  [0xf0, 0x9f, 0x98],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
  [0xfe],
  [0xff],
];

/** Bytes that are hard to judge: borders of every kind next to each other, and some noise. */
export const hardBytes: fc.Arbitrary<Uint8Array> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 1, arbitrary: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 4 }) },
    ),
    { maxLength: 60 },
  )
  .map((pieces) => Uint8Array.from(pieces.flat()));

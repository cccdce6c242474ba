import fc from 'fast-check';
import { expect, it } from 'vitest';

import { partsOf, readImage, splice, textOf, unchangedImage } from './file-image.ts';
import type { FileImage } from './file-image.ts';
import { inChunks } from './testing/memory-files.ts';

/** Hazard: an image that is read in another way than it is written. */

async function textFrom(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(Uint8Array.from(chunk));
  return Buffer.concat(all).toString();
}

async function written(image: FileImage, base: string): Promise<string> {
  let text = '';
  for (const part of partsOf(image, () => inChunks(Buffer.from(base), 5))) {
    text += part.kind === 'kept' ? base.slice(part.start, part.end) : await textFrom(part.source());
  }
  return text;
}

const edit = fc.tuple(
  fc.nat({ max: 60 }),
  fc.nat({ max: 10 }),
  fc.string({ maxLength: 6, unit: 'grapheme-ascii' }),
);

it('is the text that splicing a string gives, again and again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ maxLength: 50, unit: 'grapheme-ascii' }),
      fc.array(edit, { maxLength: 8 }),
      async (base, edits) => {
        let text = base;
        let image = unchangedImage(base.length);
        for (const [at, length, insert] of edits) {
          const start = Math.min(at, text.length);
          const end = Math.min(start + length, text.length);
          text = text.slice(0, start) + insert + text.slice(end);
          image = splice(image, [{ start, end, texts: [textOf(Buffer.from(insert))] }]);
        }
        expect(image.bytes).toBe(text.length);
        expect(await textFrom(readImage(image, () => inChunks(Buffer.from(base), 7)))).toBe(text);
        expect(await written(image, base)).toBe(text);
      },
    ),
    { numRuns: 500 },
  );
}, 60_000);

it('writes very many pieces as one stream', async () => {
  const base = 'ab'.repeat(3000);
  const text = textOf(Buffer.from('X'));
  const splices = Array.from({ length: 3000 }, (_, index) => ({
    start: 2 * index,
    end: 2 * index + 1,
    texts: [text],
  }));
  const image = splice(unchangedImage(base.length), splices);
  expect(partsOf(image, () => inChunks(Buffer.from(base), 999))).toHaveLength(1);
  expect(await written(image, base)).toBe('Xb'.repeat(3000));
});

import { OrionError } from '@orion/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import {
  byteOrderMark,
  checkNewText,
  lineCount,
  sourceOf,
  withCrlf,
  withoutFirstMark,
} from './new-text.ts';
import type { CheckedText } from './new-text.ts';
import { inChunks } from './testing/memory-files.ts';

/** Hazard: text that is counted, or given other line endings, in another way where chunks divide it (N1, N2). */

const texts = fc
  .array(fc.constantFrom('\n', '\r\n', '\r', 'a', 'é', '😀', '\ufeff'), { maxLength: 12 })
  .map((parts) => parts.join(''));

async function bytesOf(text: Pick<CheckedText, 'source'>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of text.source()) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks).toString();
}

function checked(text: string, chunk: number): Promise<CheckedText> {
  return checkNewText({ kind: 'bytes', source: () => inChunks(Buffer.from(text), chunk) }, 'a.txt');
}

it('is counted as a whole, in chunks of any size', async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 5 }), async (text, chunk) => {
      const own = await checked(text, chunk);
      const lineFeeds = text.split('\n').length - 1;
      const bareLineFeeds = text.match(/(?<!\r)\n/gu)?.length ?? 0;
      const { source: _, ...facts } = own;
      const ends = bareLineFeeds === lineFeeds ? 'lf' : bareLineFeeds === 0 ? 'crlf' : 'mixed';
      expect(facts).toEqual({
        bytes: Buffer.byteLength(text),
        lineFeeds,
        bareLineFeeds,
        eol: lineFeeds === 0 ? 'none' : ends,
        finalLineEnding: /\r?\n$/u.exec(text)?.[0].length ?? 0,
        bom: text.startsWith('\ufeff'),
      });
      expect(lineCount(own)).toBe(text === '' ? 0 : text.replace(/\n$/u, '').split('\n').length);
      expect(await bytesOf(own)).toBe(text);

      const converted = withCrlf(own);
      const expected = await checked(text.replaceAll(/(?<!\r)\n/gu, '\r\n'), chunk);
      expect(await bytesOf(converted)).toBe(await bytesOf(expected));
      expect({ ...converted, source: null }).toEqual({ ...expected, source: null });

      const bare = withoutFirstMark(own);
      expect(await bytesOf(bare)).toBe(text.replace(/^\ufeff/u, ''));
      expect({ ...bare, source: null }).toEqual({
        ...own,
        bom: false,
        bytes: own.bytes - (own.bom ? 3 : 0),
        source: null,
      });
    }),
    { numRuns: 1_000 },
  );
});

it('is told where it is no text, and with how many other places', async () => {
  const refusal = async (text: string): Promise<unknown> => {
    try {
      await checkNewText({ kind: 'text', text }, 'a.txt');
    } catch (error) {
      if (!OrionError.isInstance(error)) throw error;
      const { code, message, details, cause } = error;
      const { invalid_contexts: places, ...rest } = details;
      return [code, message, rest, (places as unknown[]).length, OrionError.isInstance(cause)];
    }
    return null;
  };
  expect(await refusal('é\n\0')).toEqual([
    'INVALID_CONTENT',
    'The text for a.txt is no valid text at line 2, column 1 (byte 3); nothing was written.',
    { byte_offset: 3, invalid_count: 1 },
    1,
    true,
  ]);
  expect(await refusal('aé\ud83d and \ude00\ud83d\ude00 \ud83d')).toEqual([
    'INVALID_CONTENT',
    'The text for a.txt is no valid text at line 1, column 3 (byte 3) and 2 more; nothing was written.',
    { byte_offset: 3, invalid_count: 3 },
    3,
    true,
  ]);
  expect(await refusal('😀')).toBeNull();
});

it('keeps halves of surrogate pairs as three bytes each', async () => {
  const chunks: Buffer[] = [];
  for await (const chunk of sourceOf({ kind: 'text', text: 'é\ud83d\ude00\ud83d\ud83dx\ude00' })())
    chunks.push(Buffer.from(chunk));
  expect(Buffer.concat(chunks).toString('hex')).toBe(
    'c3a9' + 'f09f9880' + 'eda0bd' + 'eda0bd' + '78' + 'edb880',
  );
  expect(await bytesOf(byteOrderMark)).toBe('\ufeff');
});

it('that cannot be read is told as that, and not as invalid', async () => {
  let reads = 0;
  const source = async function* source(): AsyncGenerator<Uint8Array, void> {
    reads += 1;
    yield Buffer.from('a\0');
    throw Object.assign(new Error('the disk'), { code: 'EIO', errno: -5 });
  };
  const unreadable = async function* unreadable(): AsyncGenerator<Uint8Array, void> {
    reads += 1;
    yield Buffer.from('a');
    throw Object.assign(new Error('the disk'), { code: 'EIO', errno: -5 });
  };
  await expect(checkNewText({ kind: 'bytes', source: unreadable }, 'a.txt')).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
  });
  expect(reads).toBe(1);
  await expect(checkNewText({ kind: 'bytes', source }, 'a.txt')).rejects.toThrow();
});

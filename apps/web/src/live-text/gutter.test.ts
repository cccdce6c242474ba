import { expect, it } from 'vitest';

import { gutterText, linesWithin, markedLines } from './gutter.ts';

/** Hazard: a line is shown as safer than it is. */

it('a line is within the bytes only as a whole, and characters count as the bytes that they have', () => {
  const text = 'one\nzwö\n🙂\nlast';
  const startByte = 100;
  const bytes = Buffer.byteLength(text);
  const block = { startByte, endByte: startByte + bytes };
  const within = (upTo: number): number => linesWithin(block, 4, upTo, () => text);
  expect([0, 100, 103, 104, 108, 109, 113, 114, 100 + bytes - 1, 100 + bytes].map(within)).toEqual([
    0, 0, 0, 1, 1, 2, 2, 3, 3, 4,
  ]);
});

it('does not read a block that is safe as a whole, or not at all', () => {
  const unread = (): string => {
    throw new Error('read');
  };
  const block = { startByte: 10, endByte: 20 };
  expect(linesWithin(block, 3, 20, unread)).toBe(3);
  expect(linesWithin(block, 3, 10, unread)).toBe(0);
});

it('has the number of each line, and says where text was joined', () => {
  expect(gutterText(251, 3, new Set([252, 400]))).toBe('251  \n252 ═\n253  ');
  expect(gutterText(1, 0, new Set())).toBe('');
});

it('each line has one mark: synced, else saved, else received', () => {
  const marked = (synced: number, saved: number) =>
    Object.values(markedLines(10, { synced, saved }));
  expect(marked(0, 0)).toEqual([0, 0, 10]);
  expect(marked(3, 7)).toEqual([3, 4, 3]);
  expect(marked(7, 7)).toEqual([7, 0, 3]);
  expect(marked(10, 10)).toEqual([10, 0, 0]);
});

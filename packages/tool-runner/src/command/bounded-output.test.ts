import fc from 'fast-check';
import { expect, it } from 'vitest';

import { BoundedOutput } from './bounded-output.ts';

function capture(maxBytes: number, chunks: readonly Uint8Array[]) {
  const output = new BoundedOutput(maxBytes);
  for (const chunk of chunks) output.push(chunk);
  return output.result();
}

it('keeps an output up to its limit whole', () => {
  expect(capture(8, [Buffer.from('abc'), Buffer.from('defgh')])).toEqual({
    head: 'abcdefgh',
    tail: '',
    bytes: 8,
    omittedBytes: 0,
  });
  expect(capture(8, [])).toEqual({ head: '', tail: '', bytes: 0, omittedBytes: 0 });
});

it('leaves out the middle from one byte more on', () => {
  expect(capture(8, [Buffer.from('abcdefghi')])).toEqual({
    head: 'abcd',
    tail: 'fghi',
    bytes: 9,
    omittedBytes: 1,
  });
});

it('does not show a character that the gap has cut', () => {
  // The é ends one byte behind the head, the ö begins one byte before the tail.
  expect(capture(8, [Buffer.from('abcé----öxyz')])).toMatchObject({ head: 'abc', tail: 'xyz' });
  expect(capture(8, [Buffer.from('éé--éé')])).toMatchObject({ head: 'éé', tail: 'éé' });
});

it('keeps a byte order mark, whatever is left out', () => {
  const marked = '\uFEFFabc';
  expect(capture(12, [Buffer.from(marked)]).head).toBe(marked);
  expect(capture(12, [Buffer.from(`${marked}${'-'.repeat(9)}`)])).toMatchObject({
    head: marked,
    omittedBytes: 3,
  });
});

it('leaves out no more at a cut than the rest of one character', () => {
  const bytes = Buffer.alloc(9, 0x80);
  expect(capture(8, [bytes]).tail).toBe('\uFFFD');
});

it('replaces what is not UTF-8', () => {
  expect(capture(8, [Buffer.from([0x61, 0xff, 0x62])]).head).toBe('a\uFFFDb');
});

it('keeps the same of an output however it is divided', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 60, unit: fc.constantFrom('a', 'b', 'c', 'd', '1', '2') }),
      fc.integer({ min: 2, max: 20 }),
      fc.array(fc.nat(60), { maxLength: 8 }),
      (text, half, cuts) => {
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length];
        const sorted = places.toSorted((a, b) => a - b);
        const chunks = sorted.slice(1).map((end, at) => Buffer.from(text.slice(sorted[at], end)));
        const omitted = Math.max(0, text.length - 2 * half);
        expect(capture(2 * half, chunks)).toEqual({
          head: omitted === 0 ? text : text.slice(0, half),
          tail: omitted === 0 ? '' : text.slice(-half),
          bytes: text.length,
          omittedBytes: omitted,
        });
      },
    ),
  );
});

it('shows no half of a character, whatever is left out', () => {
  const characters = fc.constantFrom('a', '\u{a9}', '\u{20ac}', '\u{1f600}', '\u{41041}');
  fc.assert(
    fc.property(
      fc.array(characters, { maxLength: 30 }),
      fc.integer({ min: 8, max: 20 }),
      (all, half) => {
        const text = all.join('');
        const { head, tail, omittedBytes } = capture(2 * half, [Buffer.from(text)]);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        const shown = Buffer.byteLength(head) + Buffer.byteLength(tail);
        expect(Buffer.byteLength(text) - shown - omittedBytes).toBeLessThanOrEqual(6);
      },
    ),
  );
});

it('holds no more than twice its limit of an endless output', () => {
  const output = new BoundedOutput(1024 * 1024);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 4_000; count += 1) output.push(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  expect(output.result()).toMatchObject({ bytes: 4_000 * 64 * 1024 });
});

import { expect, it } from 'vitest';

import { readKeys } from './line-editor.ts';

/** Hazard: a terminal sends keys and pasted text in pieces of any length. */

function readAll(pieces: readonly string[]): readonly string[] {
  const read: string[] = [];
  const keys = readKeys(
    (key) => read.push(`key ${JSON.stringify(key)}`),
    (text) => read.push(`paste ${JSON.stringify(text)}`),
  );
  for (const piece of pieces) keys.push(piece);
  keys.end();
  return read;
}

it('reads the same keys and pastes wherever the text is cut', () => {
  const typed =
    'a\u001B[A\u001B[200~one\r\u001B[Atwo\u001B[201~b\u001B[200~\u001B[201~\u001B[13;2u';
  const whole = readAll([typed]);
  expect(whole).toEqual([
    'key "a"',
    'key "\\u001b[A"',
    'paste "one\\r\\u001b[Atwo"',
    'key "b"',
    'paste ""',
    'key "\\u001b[13;2u"',
  ]);
  for (let cut = 1; cut < typed.length; cut += 1) {
    expect(readAll([typed.slice(0, cut), typed.slice(cut)])).toEqual(whole);
  }
  expect(readAll([...typed])).toEqual(whole);
});

it('takes time in proportion to the length of a paste', () => {
  const time = (lines: number): number => {
    const text = `\u001B[200~${'x'.repeat(70 * lines)}\u001B[201~`;
    const pieces = text.match(/.{1,200}/gsu) ?? [];
    const before = process.cpuUsage();
    readAll(pieces);
    return process.cpuUsage(before).user / 1000;
  };
  time(10_000);
  // Quadratic, it would take 64 times as long.
  expect(time(80_000)).toBeLessThan(30 * Math.max(10, time(10_000)));
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countCodePoints,
  cutText,
  encodeWtf8,
  firstCodePoints,
  isHighSurrogate,
  isLowSurrogate,
} from './surrogates.ts';

test('the halves of a pair', () => {
  expect([0xd7ff, 0xd800, 0xdbff, 0xdc00].map(isHighSurrogate)).toEqual([false, true, true, false]);
  expect([0xdbff, 0xdc00, 0xdfff, 0xe000].map(isLowSurrogate)).toEqual([false, true, true, false]);
});

test('text is cut between characters', () => {
  expect(cutText('ab', 2)).toBe('ab');
  expect(cutText('abc', 2)).toBe('ab');
  expect(cutText('a😀b', 2)).toBe('a');
  expect(cutText('a😀b', 3)).toBe('a😀');
  // What is whole is not cut, whatever it ends with.
  expect(cutText('a\ud83d', 2)).toBe('a\ud83d');
});

test.each([
  ['\ud83d', 'eda0bd'],
  ['\udfff', 'edbfbf'],
  ['A\ud83dB', '41eda0bd42'],
  ['\ud83d\ude00', 'f09f9880'],
  ['\ud83d\ud83d\ude00', 'eda0bdf09f9880'],
  ['é\ud83d😀', 'c3a9eda0bdf09f9880'],
  ['\ude00\ud83d', 'edb880eda0bd'],
  ['€\ue000\ud800', 'e282acee8080eda080'],
  ['é😀', 'c3a9f09f9880'],
])('%j keeps its lone halves', (text, hex) => {
  expect(encodeWtf8(text).toString('hex')).toBe(hex);
});

test('text without lone halves is UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (any) => {
      const text = any.toWellFormed();
      expect(encodeWtf8(text)).toEqual(Buffer.from(text, 'utf8'));
    }),
  );
});

test('code points are counted and taken as a string iterates over them', () => {
  const halves = fc.constantFrom('\ud83d', '\ude00', '😀', 'a', 'é');
  fc.assert(
    fc.property(fc.array(halves), fc.nat(8), (parts, limit) => {
      const text = parts.join('');
      expect(countCodePoints(text)).toBe([...text].length);
      expect(firstCodePoints(text, limit)).toBe([...text].slice(0, limit).join(''));
    }),
  );
});

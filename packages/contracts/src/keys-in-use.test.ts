import { expect, test } from 'vitest';

import { KeysInUse } from './keys-in-use.ts';

const KEY = 'k+y/"1~ä-0123456789abcdef';
const keys = new KeysInUse([KEY]);

test('a key is found in every form in which it may be said', () => {
  const forms = [
    KEY,
    encodeURIComponent(KEY),
    encodeURIComponent(KEY).toLowerCase(),
    JSON.stringify(KEY).slice(1, -1),
  ];
  for (const form of forms) {
    expect(keys.redact(`before ${form} after`)).toBe('before [REDACTED] after');
  }
});

test('a key is found in base64, whatever surrounds it', () => {
  for (const before of ['', 'u:', 'user:', 'abcd']) {
    for (const after of ['', '\n', '@h', 'xyz']) {
      const bytes = Buffer.from(before + KEY + after);
      for (const encoding of ['base64', 'base64url'] as const) {
        const clean = keys.redact(bytes.toString(encoding));
        expect(clean).toContain('[REDACTED]');
        // What is left are the neighbours, and less than a byte of the key at each end.
        expect(clean.replace('[REDACTED]', '').length).toBeLessThanOrEqual(
          Math.ceil(((before.length + after.length) * 4) / 3) + 6,
        );
      }
    }
  }
});

test('what is shorter than 8 characters is no key, and a longer key goes before its part', () => {
  expect(new KeysInUse(['sevench', '', null, undefined]).redact('sevench')).toBe('sevench');
  expect(new KeysInUse(['eight888']).redact('an eight888.')).toBe('an [REDACTED].');
  expect(new KeysInUse(['abcdefgh', 'abcdefghij']).redact('abcdefghij')).toBe('[REDACTED]');
});

test('a key that comes in pieces never comes out, and everything else does', () => {
  const text = [
    KEY.slice(0, 9),
    KEY,
    '\n',
    KEY.slice(0, 1),
    KEY,
    KEY.slice(9),
    Buffer.from(`:${KEY}:`).toString('base64'),
    encodeURIComponent(KEY),
    KEY.slice(0, -1),
  ].join('');
  for (let first = 0; first <= text.length; first += 1) {
    for (const length of [1, 2, 7, 30, 1000]) {
      const stream = keys.stream();
      let out = stream.push(text.slice(0, first));
      for (let at = first; at < text.length; at += length) {
        out += stream.push(text.slice(at, at + length));
      }
      out += stream.end();
      expect(out).toBe(keys.redact(text));
      expect(stream.end()).toBe('');
    }
  }
  expect(keys.redact(text).match(/\[REDACTED\]/gu)).toHaveLength(4);
});

test('only what may begin a key waits', () => {
  const stream = keys.stream();
  expect(stream.push('a text, ')).toBe('a text, ');
  expect(stream.push(`x${KEY.slice(0, 5)}`)).toBe('x');
  expect(stream.push(' no key')).toBe(`${KEY.slice(0, 5)} no key`);
});

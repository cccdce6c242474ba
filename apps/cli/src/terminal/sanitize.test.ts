import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createSanitizer, jsonLine, sanitize, sanitizeLine } from './sanitize.ts';

function inPieces(pieces: readonly string[]): string {
  const sanitizer = createSanitizer();
  return pieces.map((piece) => sanitizer.push(piece)).join('') + sanitizer.end();
}

/** Text with much of what matters: escapes, line endings, surrogates, bidi and tag characters. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\x1b',
        '\x1b[31m',
        '\x1b]52;c;aGk=\x07',
        '\x1b]8;;http://x\x1b\\',
        '\x1bP$q"p\x1b\\',
        '\x1b_x\x1b\\',
        '\x9b',
        '\x9d',
        '\r',
        '\n',
        '\r\n',
        '\t',
        '\x7f',
        '\x00',
        '\u202e',
        '\u2066',
        '\u200f',
        '\u{e0041}',
        '\ud83d',
        '\ude00',
        '😀',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('what a terminal is shown (R254)', () => {
  it.each([
    ['plain text', 'line 1\n\tline 2 – é 漢 😀\n', 'line 1\n\tline 2 – é 漢 😀\n'],
    ['a colour', 'a\x1b[31mb', 'a\\x1b[31mb'],
    ['the clipboard', '\x1b]52;c;aGk=\x07', '\\x1b]52;c;aGk=\\x07'],
    ['an 8-bit CSI', '\x9b31m', '\\x9b31m'],
    ['CRLF', 'a\r\nb', 'a\nb'],
    ['a lone carriage return', 'a\rb', 'a\\x0db'],
    ['a backspace and DEL', 'a\bb\x7f', 'a\\x08b\\x7f'],
    ['an override', 'a\u202eb', 'a\\u202eb'],
    ['a tag character', 'a\u{e0041}b', 'a\\u{e0041}b'],
    ['half a pair', 'a\ud83db', 'a\\ud83db'],
    ['an emoji of several parts', '👨‍👩‍👧', '👨‍👩‍👧'],
  ])('%s', (_name, text, shown) => {
    expect(sanitize(text)).toBe(shown);
  });

  it('shows nothing but printable text, tabs and line feeds', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        // oxlint-disable-next-line no-control-regex -- control characters are what this is about
        expect(sanitize(text)).not.toMatch(
          // oxlint-disable-next-line no-control-regex -- control characters are what this is about
          /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/u,
        );
      }),
    );
  });

  it('does not depend on where the text was cut', () => {
    fc.assert(
      fc.property(hostile, fc.array(fc.nat(40), { maxLength: 6 }), (text, cuts) => {
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length];
        places.sort((a, b) => a - b);
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        expect(inPieces(pieces)).toBe(sanitize(text));
        expect(inPieces(text.split(''))).toBe(sanitize(text));
      }),
    );
  });

  it('keeps a log line on one line (B20)', () => {
    expect(sanitizeLine('a\nfake: line\r\n\tb')).toBe('a\\nfake: line\\n\\tb');
  });
});

describe('jsonLine', () => {
  it('is one line of the same value, without anything that a terminal acts on', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const line = jsonLine(JSON.stringify({ [text]: [text] }));
        expect(sanitize(line)).toBe(line);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(JSON.parse(line)).toEqual({ [text]: [text] });
      }),
    );
  });

  it('leaves other text as it is', () => {
    expect(jsonLine('{"a":"ä 😀 \\n"}')).toBe('{"a":"ä 😀 \\n"}\n');
    expect(jsonLine('"\u{e0041}\x9b"')).toBe('"\\udb40\\udc41\\u009b"\n');
  });
});

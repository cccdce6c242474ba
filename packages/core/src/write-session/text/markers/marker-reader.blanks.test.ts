import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMessage } from '../testing/read-message.ts';
import { dividedText, hazardousTexts, unitsOf } from '../testing/splits.ts';

/** Hazard: blank lines that a chat template put before the first line become part of the file (R272). */

const drop = { dropBlankLines: true };

describe('R272: blank lines before the first line', () => {
  test.each<[string, string, string, number]>([
    ['none', 'a\n\nb\n', 'a\n\nb\n', 0],
    ['some', '\n\na\n\nb\n', 'a\n\nb\n', 2],
    ['with blanks and CR', ' \t\r\n\r\n\r\r\na\n', 'a\n', 3],
    ['the indentation of the first line stays', '\n \n  \ta\n  b\n', '  \ta\n  b\n', 2],
    ['a BOM makes a line', '\n\ufeff\na\n', '\ufeff\na\n', 1],
    ['a no-break space makes a line', '\n\u00a0\na\n', '\u00a0\na\n', 1],
    ['a zero-width space makes a line', '\n\u200b\na\n', '\u200b\na\n', 1],
    ['a surrogate pair', '\n😀\n', '😀\n', 1],
    ['before an indented DONE, which is no marker', '\n  DONE\n', '  DONE\n', 1],
  ])('%s', (_name, message, content, blankLinesDropped) => {
    const result = readMessage([message], drop);
    expect(result).toMatchObject({ content, blankLinesDropped });
    expect(readMessage(unitsOf(message), drop)).toEqual(result);
    const kept = readMessage([message]);
    expect(kept).toMatchObject({ content: message, blankLinesDropped: 0 });
  });

  test('are nothing where nothing follows', () => {
    for (const message of ['\n \n\t', '\n\nDONE\n', '\nDONE 7f3a'])
      expect(readMessage([message], drop)).toMatchObject({ content: '', blank: true });
    expect(readMessage(['\n\nDONE\n'], drop).ending.kind).toBe('terminal');
  });

  test('lines and bytes are counted without them', () => {
    expect(readMessage(['\n\né\nDONE\nb\n'], drop).ending).toMatchObject({
      candidates: [{ line: 2, contentEnd: 3 }],
      innerDoneLines: [2],
    });
    expect(readMessage(['\n\né\nDONE.\n'], drop).ending).toMatchObject({ contentEnd: 3 });
  });

  test('every division reads the same, and what is left is the text without them', () => {
    const blanks = fc
      .array(fc.constantFrom('\n', ' ', '\t', '\r\n', '\r'), { maxLength: 6 })
      .map((parts) => parts.join(''));
    const texts = fc.tuple(blanks, hazardousTexts).map((parts) => parts.join(''));
    fc.assert(
      fc.property(dividedText(texts), ({ text, pieces }) => {
        const whole = readMessage([text], drop);
        expect(readMessage(pieces, drop)).toEqual(whole);
        expect(readMessage(unitsOf(text), drop)).toEqual(whole);
        const lines = /^(?:[ \t\r]*\n)*/u.exec(text)?.[0] ?? '';
        if (text.trim() !== '') {
          expect(whole).toEqual({
            ...readMessage([text.slice(lines.length)]),
            blankLinesDropped: lines.split('\n').length - 1,
          });
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  closesFence,
  inkOf,
  isBlankLine,
  isChatLine,
  parseFenceLine,
  sameLine,
  stripIndentation,
  trimLine,
  utf8Length,
} from './lines.ts';

test('L1, A18: only spaces, tabs and CR are blanks at a line’s end', () => {
  expect(trimLine('a \t\r')).toBe('a');
  for (const text of ['a\u00a0', 'a\u2028', 'a\v', 'a\f', 'a\u0085'])
    expect(trimLine(text)).toBe(text);
  expect(isBlankLine(' \t\r')).toBe(true);
  expect(isBlankLine('\u00a0')).toBe(false);
  expect(sameLine('a \r', 'a')).toBe(true);
  expect(sameLine(' a', 'a')).toBe(false);
  expect(stripIndentation(' \ta ')).toBe('a ');
});

test('ink is neither white space nor ASCII punctuation', () => {
  expect(inkOf('a_1 {é}\u00a0;漢')).toBe(4);
});

describe('R022: chat lines', () => {
  test.each([
    'Here it is:',
    'É bien.',
    '*Note*:',
    '_so_ …',
    '(ok)',
    '[link](x)',
    '😀 fine!',
    '完成。',
    'Ok! \r',
  ])('%j is one', (line) => {
    expect(isChatLine(line)).toBe(true);
  });

  test.each([
    'here it is:',
    ' Here:',
    'Here it is',
    '',
    '# Title:',
    'return x.',
    `H${'x'.repeat(160)}:`,
  ])('%j is none', (line) => {
    expect(isChatLine(line)).toBe(false);
  });

  test('has at most 160 characters, however many code units', () => {
    expect(isChatLine(`A${'😀'.repeat(158)}:`)).toBe(true);
    expect(isChatLine(`A${'😀'.repeat(159)}:`)).toBe(false);
  });
});

describe('fence lines', () => {
  test.each([
    ['```', '`', 3, ''],
    ['   ~~~~ \r', '~', 4, ''],
    ['```  py title="x" ', '`', 3, 'py title="x"'],
    ['~~~ `x`', '~', 3, '`x`'],
    ['```\u2028', '`', 3, '\u2028'],
    ['~~~ a\rb\u2028', '~', 3, 'a\rb\u2028'],
  ])('%j', (line, character, length, info) => {
    expect(parseFenceLine(line)).toEqual({ character, length, info });
  });

  test.each(['``', '    ```', '``` `x`', 'x```', '\t```', ''])('%j is none', (line) => {
    expect(parseFenceLine(line)).toBeNull();
  });

  test('close what the same character opened, at the same length or longer, without info', () => {
    const open = { character: '`', length: 4, info: 'md' } as const;
    expect(closesFence(open, { character: '`', length: 4, info: '' })).toBe(true);
    expect(closesFence(open, { character: '`', length: 5, info: '' })).toBe(true);
    expect(closesFence(open, { character: '`', length: 3, info: '' })).toBe(false);
    expect(closesFence(open, { character: '~', length: 4, info: '' })).toBe(false);
    expect(closesFence(open, { character: '`', length: 4, info: 'js' })).toBe(false);
  });
});

test('utf8Length agrees with the encoder on every text', () => {
  // Any code units: halves of pairs stand alone too.
  const texts = fc.uint16Array({ maxLength: 12 }).map((codes) => String.fromCharCode(...codes));
  fc.assert(
    fc.property(texts, (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    }),
  );
  expect(utf8Length('\ud83d')).toBe(3);
  expect(utf8Length('\ude00\ud83d')).toBe(6);
});

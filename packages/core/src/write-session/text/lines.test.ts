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

test.each([
  // [code, counts]
  [0x2f, 0],
  [0x30, 1],
  [0x39, 1],
  [0x3a, 0],
  [0x40, 0],
  [0x41, 1],
  [0x5a, 1],
  [0x5b, 0],
  [0x60, 0],
  [0x61, 1],
  [0x7a, 1],
  [0x7b, 0],
  [0x7f, 0],
  [0x80, 1],
  [0x84, 1],
  [0x85, 0],
  [0x86, 1],
  [0x9f, 1],
  [0xa0, 0],
  [0xa1, 1],
  [0x167f, 1],
  [0x1680, 0],
  [0x1681, 1],
  [0x1fff, 1],
  [0x2000, 0],
  [0x2001, 0],
  [0x2009, 0],
  [0x200a, 0],
  [0x200b, 1],
  [0x2027, 1],
  [0x2028, 0],
  [0x2029, 0],
  [0x202a, 1],
  [0x202e, 1],
  [0x202f, 0],
  [0x2030, 1],
  [0x205e, 1],
  [0x205f, 0],
  [0x2060, 1],
  [0x2fff, 1],
  [0x3000, 0],
  [0x3001, 1],
  [0xfefe, 1],
  [0xfeff, 0],
  [0xff00, 1],
])('the code unit 0x%x has an ink of %d', (code, ink) => {
  const unit = String.fromCharCode(code);
  expect(inkOf(unit)).toBe(ink);
  expect(inkOf(`a${unit}${unit}`)).toBe(1 + 2 * ink);
});

test('blanks around a line are taken off one by one', () => {
  for (const blank of [' ', '\t', '\r']) {
    expect(trimLine(blank)).toBe('');
    expect(trimLine(`${blank}a${blank}`)).toBe(`${blank}a`);
    expect(isBlankLine(blank)).toBe(true);
  }
  expect(trimLine('')).toBe('');
  expect(stripIndentation('')).toBe('');
  expect(stripIndentation(' ')).toBe('');
  expect(stripIndentation('\t')).toBe('');
  expect(stripIndentation('\ra')).toBe('\ra');
  expect(stripIndentation('\u00a0a')).toBe('\u00a0a');
  expect(stripIndentation('a b')).toBe('a b');
  expect(sameLine('a', 'a\t')).toBe(true);
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
    expect(isChatLine(`A${'a'.repeat(158)}:`)).toBe(true);
    expect(isChatLine(`A${'a'.repeat(159)}:`)).toBe(false);
    expect(isChatLine(`${'😀'.repeat(159)}:`)).toBe(true);
    expect(isChatLine(`😀${' '.repeat(400)}`)).toBe(false);
    expect(isChatLine(`Yes.${' '.repeat(400)}`)).toBe(true);
  });

  test.each([':', '.', '!', '…', ')', ']', '：', '。', '！'])('may end in %s', (end) => {
    expect(isChatLine(`So it is${end}`)).toBe(true);
    expect(isChatLine(`So${end} it is`)).toBe(false);
    expect(isChatLine(`so it is${end}`)).toBe(false);
  });

  test.each(['A', 'ǅ', '漢', 'ʰ', '😀', '🇩', '*', '_', '(', '['])('may begin with %s', (start) => {
    expect(isChatLine(`${start}x y.`)).toBe(true);
    expect(isChatLine(`${start}x y`)).toBe(false);
    expect(isChatLine(`x${start}y.`)).toBe(false);
    expect(isChatLine(` ${start}x y.`)).toBe(false);
  });

  test.each(['-', '#', '`', '"', '1', 'é', ',', '{'])('does not begin with %s', (start) => {
    expect(isChatLine(`${start}x y.`)).toBe(false);
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
    ['~~~', '~', 3, ''],
    ['~~~~x', '~', 4, 'x'],
    ['  ``````js', '`', 6, 'js'],
    [' ``` \tjs\t', '`', 3, 'js'],
    ['~~~~ ~~~', '~', 4, '~~~'],
  ])('%j', (line, character, length, info) => {
    expect(parseFenceLine(line)).toEqual({ character, length, info });
  });

  test.each([
    '``',
    '~~',
    '    ```',
    '    ~~~',
    '``` `x`',
    '```x`',
    'x```',
    'x~~~',
    '``~',
    '\t```',
    '',
  ])('%j is none', (line) => {
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

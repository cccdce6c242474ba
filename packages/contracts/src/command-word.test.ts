import { execFileSync } from 'node:child_process';

import { expect, it } from 'vitest';

import { commandWord } from './command-word.ts';

it.each([
  ['docs/a.md', 'docs/a.md'],
  ['a b.md', '"a b.md"'],
  ['C:\\Users\\me\\a b.txt', '"C:\\Users\\me\\a b.txt"'],
  ['~me', '"~me"'],
  ['', "''"],
  ['$HOME', "'$HOME'"],
  ["it's `x`", "'it'\\''s `x`'"],
  ['a\\', "'a\\'"],
  ['100%', '100%'],
])('%j is typed as %s', (word, typed) => {
  expect(commandWord(word)).toBe(typed);
});

it.skipIf(process.platform === 'win32')('a POSIX shell reads the same word', () => {
  const words = [
    'a b',
    '~me',
    '',
    '$HOME',
    "it's",
    'a"b',
    'a\\b',
    'a\\',
    '*',
    '(x)',
    '!1',
    ' ',
    'ä;é',
  ];
  for (const word of words) {
    const read = execFileSync('/bin/sh', ['-c', `printf %s ${commandWord(word)}`], {
      cwd: '/',
      encoding: 'utf8',
    });
    expect(read).toBe(word);
  }
});

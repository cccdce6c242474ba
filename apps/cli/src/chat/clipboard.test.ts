import { expect, it } from 'vitest';

import { clipboardSequence } from './clipboard.ts';

function copied(text: string): string {
  const made = clipboardSequence(text);
  const [, base64 = ''] =
    // oxlint-disable-next-line no-control-regex -- the sequence is made of them
    /^\u001B\]52;c;([A-Za-z\d+/]*={0,2})\u0007$/u.exec('sequence' in made ? made.sequence : '') ??
    [];
  return Buffer.from(base64, 'base64').toString('utf8');
}

it('has the text as it is', () => {
  expect(copied('# Title\n\n\tcode é \u{1F600}\n')).toBe('# Title\n\n\tcode é \u{1F600}\n');
  expect(copied('')).toBe('');
});

it('has nothing that a terminal could obey when it is pasted', () => {
  expect(copied('a\u001B[201~rm -rf\r\u009B\u0007b\u202E')).toBe(
    'a\\x1b[201~rm -rf\\x0d\\x9b\\x07b\\u202e',
  );
  expect(copied('a\r\nb')).toBe('a\nb');
});

it('is made up to the size that terminals take', () => {
  const longest = `${'é'.repeat(37_497)}`;
  expect(copied(longest)).toBe(longest);
  const made = clipboardSequence(longest);
  expect('sequence' in made && made.sequence.length).toBeLessThanOrEqual(100_000);
  expect(clipboardSequence(`${longest}a`)).toEqual({
    refused: 'It has 75.0 kB; a terminal takes 75.0 kB at most. /save writes it to a file.',
  });
});

import type { Random } from '@orion/common';

const WORDS =
  'river stone letter window silver garden paper signal morning engine harbour candle orbit meadow copper thread bridge lantern valley compass'.split(
    ' ',
  );
const WIDE_WORDS = [
  'größer',
  'Überfluß',
  'naïve',
  'πλοῖον',
  'Москва',
  '日本語',
  '文章を書く',
  '한국어',
  'עברית',
  'कर्म',
  'e\u0301te\u0301',
  '👩‍👩‍👧‍👦',
  '🏳️‍🌈',
  '𝔘𝔫𝔦𝔠𝔬𝔡𝔢',
  '🦉',
  '\u{20000}\u{2a6d6}',
];

/**
 * Lines as models write them: blank ones, some that occur many times, some that begin like an end marker, and all
 * others different.
 */
export function textDocument(random: Random, lines: number, lineEnding: '\n' | '\r\n'): string {
  const out: string[] = [];
  for (let number = 1; number <= lines; number += 1) out.push(textLine(random, number));
  return out.join(lineEnding) + lineEnding;
}

function textLine(random: Random, number: number): string {
  const kind = random.next();
  // Blank lines before the first line would be left out of the file.
  if (kind < 0.08 && number > 1) return '';
  if (kind < 0.14) return '  }';
  if (kind < 0.17) return `DO not stop at ${number}`;
  return `${'  '.repeat(random.between(0, 3))}- ${number} ${words(random, WORDS, random.between(2, 12))}`;
}

/** Characters of two, three and four bytes, and sequences of several code points. */
export function wideDocument(random: Random, lines: number): string {
  let text = '';
  for (let number = 1; number <= lines; number += 1) {
    text += `${number} ${words(random, WIDE_WORDS, random.between(1, 10))}\n`;
  }
  return text;
}

/** A minified program: one line that never ends. */
export function endlessLine(random: Random, characters: number): string {
  const parts: string[] = [];
  let length = 0;
  for (let number = 0; length < characters; number += 1) {
    const part = `const a${number}=b=>b.${random.pick(WORDS)}(${random.between(0, 0xffff_ffff)},"${random.pick(WORDS)} ${random.pick(WORDS)}");`;
    parts.push(part);
    length += part.length;
  }
  return `${parts.join('')}\n`;
}

function words(random: Random, from: readonly string[], count: number): string {
  return Array.from({ length: count }, () => random.pick(from)).join(' ');
}

import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { appendToSummary, createSummary } from './content-summary.ts';
import { createAgainReader, endAgain, readAgain } from './document-again.ts';
import { targetKindOf } from './target-kind.ts';

function verdict(saved: string, pieces: readonly string[], target = 'letter.txt'): string {
  const summary = appendToSummary(createSummary(), saved);
  let reader = createAgainReader(summary, { kind: targetKindOf(target), target });
  for (const piece of pieces) reader = readAgain(reader, piece);
  return endAgain(reader);
}

const BODY = 'Dear Ann,\n\nthank you for the books.\nI read them all.\n';

describe('R297: a reply that is the document again', () => {
  it.each<[string, string, string]>([
    ['as it was', BODY, BODY],
    ['with another end', BODY, 'Dear Ann,\nthank you for the books.\nSee you soon!\n'],
    ['behind a chat line', BODY, `Here is the letter again:\n\n${BODY}`],
    ['behind two', BODY, `I am sorry!\nHere is all of it:\n\n${BODY}`],
    ['in a fence', BODY, `\`\`\`text\n${BODY}\`\`\`\n`],
    ['behind two and a fence', BODY, `I am sorry!\nHere is all of it:\n\`\`\`\n${BODY}\`\`\`\n`],
    ['without the lead of the saved text', `Sure, here is the file:\n\n${BODY}`, BODY],
    ['without its two leads', `Certainly!\n\nHere is the file:\n\n${BODY}`, BODY],
    ['without its fence', `\`\`\`text\n${BODY}\`\`\`\n`, BODY],
    ['of one line in a fence', '```js\nconst a = 1;\n```\n', 'const a = 1;\nDONE'],
    ['without lead and fence', `Here is the file:\n\`\`\`text\n${BODY}\`\`\`\n`, BODY],
    ['with blanks at the ends of its lines', BODY, 'Dear Ann, \r\nthank you for the books.\t\r\n'],
    ['of one line', 'Only this\n', 'Only this\n'],
    ['of one line without its ending', 'Only this', 'Only this'],
    ['cut behind its first lines', BODY, 'Dear Ann,\n\nthank you for the books.'],
  ])('%s', (_name, saved, reply) => {
    expect(verdict(saved, [reply])).toBe('again');
    expect(verdict(saved, [...reply])).toBe('again');
  });

  it.each<[string, string, string]>([
    ['the first line alone', BODY, 'Dear Ann,\n'],
    ['another second line', BODY, 'Dear Ann,\n\nthank you.\n'],
    ['the lines in another order', BODY, 'thank you for the books.\nDear Ann,\n'],
    ['the end of the text', BODY, 'thank you for the books.\nI read them all.\n'],
    ['behind three chat lines', BODY, `One.\nTwo.\nThree.\n${BODY}`],
    ['behind a line that is no chat', BODY, `see here\n${BODY}`],
    ['behind two fences', BODY, `\`\`\`\n\`\`\`\n${BODY}`],
    ['an answer', BODY, 'KEEP'],
    ['nothing', BODY, ''],
    ['nothing saved', '', BODY],
    ['a first line that is longer than any compared', BODY, `${'x'.repeat(9000)}\n${BODY}`],
    ['a line of a text that has more', 'Only this\nand that\n', 'Only this\n'],
  ])('is not: %s', (_name, saved, reply) => {
    expect(verdict(saved, [reply])).toBe('other');
    expect(verdict(saved, [...reply])).toBe('other');
  });
});

test('D1: the verdict is taken as early as it can be, and stays', () => {
  const summary = appendToSummary(createSummary(), BODY);
  const start = createAgainReader(summary, { kind: 'prose', target: 'a.txt' });
  const first = readAgain(start, 'Dear Ann,\nthank you for the books.');
  expect(first.verdict).toBeNull();
  const second = readAgain(first, '\n');
  expect(second.verdict).toBe('again');
  expect(readAgain(second, 'x\n'.repeat(100))).toBe(second);
  expect(readAgain(start, 'Dear Ann,\nwhat is new?\n').verdict).toBe('other');
  expect(readAgain(start, 'Sorry.\n').verdict).toBeNull();
  expect(readAgain(start, 'Sorry.\nsee\n').verdict).toBe('other');
});

test('D1: every division gives the same verdict', () => {
  const line = fc.constantFrom(
    'Dear Ann,',
    'thank you for the books.',
    'Here it is:',
    '```',
    '',
    'x',
  );
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.array(fc.nat(60), { maxLength: 8 }),
      (lines, cuts) => {
        const text = lines.join('\n');
        const places = [...new Set(cuts)].sort((one, other) => one - other);
        const pieces = [0, ...places].map((from, index) => text.slice(from, places[index]));
        expect(verdict(BODY, pieces)).toBe(verdict(BODY, [text]));
      },
    ),
  );
});

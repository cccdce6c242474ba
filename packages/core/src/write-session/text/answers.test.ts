import fc from 'fast-check';
import type { SessionQuestion } from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import { canStillBeAnswer, readAnswer, type Answer } from './answers.ts';

const MARKER = 'DONE 7f3a';
const seven = { line: 7, contentEnd: 50, following: 'x' };
const two = { line: 2, contentEnd: 7, following: 'not finished' };
const end: SessionQuestion = { kind: 'end', candidates: [seven, two] };
const nearMiss: SessionQuestion = {
  kind: 'near_miss',
  text: 'DONE.',
  contentEnd: 3,
  heldBack: false,
};
const fence: SessionQuestion = {
  kind: 'fence',
  contentStart: 1,
  contentEnd: 2,
  firstLine: '```',
  lastLine: '```',
};
const omission: SessionQuestion = {
  kind: 'omission',
  lines: [{ line: 3, text: '// ...' }],
  count: 1,
};
const questions = { end, near_miss: nearMiss, fence, omission };

const ANSWERS: readonly (readonly [keyof typeof questions, string, Answer])[] = [
  ['end', 'DONE', { kind: 'done' }],
  ['end', 'DONE 7f3a\n', { kind: 'done' }],
  ['end', 'DONE 0000', { kind: 'done' }],
  ['end', '\n\nDONE \r\n\n', { kind: 'done' }],
  ['end', ' DONE', { kind: 'done' }],
  ['end', 'END 2', { kind: 'end', candidate: two }],
  ['end', '\r\nEND  7\t\r\n', { kind: 'end', candidate: seven }],
  ['end', 'END 3', { kind: 'unusable' }],
  ['end', '', { kind: 'unusable' }],
  ['end', ' \n\r\n', { kind: 'unusable' }],
  ['end', 'END', { kind: 'text' }],
  ['end', 'END2', { kind: 'text' }],
  ['end', 'END 2.', { kind: 'text' }],
  ['end', 'end 2', { kind: 'text' }],
  ['end', 'KEEP', { kind: 'text' }],
  ['end', 'DONE\nmore', { kind: 'text' }],
  ['end', 'DON', { kind: 'text' }],
  ['near_miss', 'DONE\n', { kind: 'done' }],
  ['near_miss', 'DONE 7f3a', { kind: 'done' }],
  ['near_miss', 'KEEP\r\n', { kind: 'keep' }],
  ['near_miss', 'keep', { kind: 'text' }],
  ['near_miss', 'KEEP.', { kind: 'text' }],
  ['near_miss', 'STRIP', { kind: 'text' }],
  ['near_miss', 'END 2', { kind: 'text' }],
  ['near_miss', '', { kind: 'unusable' }],
  ['fence', 'STRIP\n', { kind: 'strip' }],
  ['fence', 'KEEP', { kind: 'keep' }],
  ['fence', 'DONE', { kind: 'unusable' }],
  ['fence', 'strip it', { kind: 'unusable' }],
  ['fence', '', { kind: 'unusable' }],
  ['fence', 'AGAIN', { kind: 'unusable' }],
  ['omission', 'KEEP', { kind: 'keep' }],
  ['omission', '\nAGAIN\r\n', { kind: 'again' }],
  ['omission', 'STRIP', { kind: 'unusable' }],
  ['omission', 'DONE', { kind: 'unusable' }],
  ['omission', 'again', { kind: 'unusable' }],
  ['omission', 'AGAIN\nconst x = 1;', { kind: 'unusable' }],
  ['omission', '', { kind: 'unusable' }],
];

describe('what a reply says (Q1, Q3)', () => {
  test.each(ANSWERS)('to %s: %j', (kind, reply, answer) => {
    expect(readAnswer(questions[kind], reply, MARKER)).toEqual(answer);
  });
});

test('Q2: every beginning of an answer can still be one', () => {
  for (const [kind, reply, answer] of ANSWERS) {
    if (answer.kind === 'text') continue;
    // To a closed question everything but its words is unusable, at once.
    if (answer.kind === 'unusable' && (kind === 'fence' || kind === 'omission')) continue;
    for (let length = 0; length <= reply.length; length += 1)
      expect([
        reply,
        length,
        canStillBeAnswer(questions[kind], reply.slice(0, length), MARKER),
      ]).toEqual([reply, length, true]);
  }
});

test.each([
  ['end', 'The '],
  ['end', 'DONE\nm'],
  ['end', 'DONE 7f3ab'],
  ['end', 'DO '],
  ['end', 'DO\n'],
  ['end', 'ENDING'],
  ['end', 'END x'],
  ['end', 'END 2\n3'],
  ['near_miss', 'KEEP it'],
  ['near_miss', 'K '],
  ['near_miss', 'STR'],
  ['fence', 'DONE'],
  ['fence', 'STRIP.'],
] as const)('%s: %j is no answer any more', (kind, held) => {
  expect(canStillBeAnswer(questions[kind], held, MARKER)).toBe(false);
});

test('Q2: once it is false it stays false, and no answer follows', () => {
  const replies = fc
    .array(
      fc.constantFrom(
        'DONE',
        ' 7f3a',
        'D',
        'O',
        'NE',
        'END',
        ' ',
        '2',
        '7',
        '\n',
        '\r',
        'KEEP',
        'STRIP',
        'AGAIN',
        'K',
        'x',
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(replies, fc.constantFrom(end, nearMiss, fence, omission), (reply, question) => {
      let possible = true;
      for (let length = 0; length <= reply.length; length += 1) {
        const now = canStillBeAnswer(question, reply.slice(0, length), MARKER);
        if (!possible) expect(now).toBe(false);
        possible = now;
      }
      const answer = readAnswer(question, reply, MARKER).kind;
      const isClosed = question.kind === 'fence' || question.kind === 'omission';
      if (!possible) expect(answer).toBe(isClosed ? 'unusable' : 'text');
    }),
    { numRuns: 2_000 },
  );
});

test('an endless reply of blanks is not held for ever', () => {
  const blanks = ' '.repeat(20_000);
  expect(canStillBeAnswer(end, blanks, MARKER)).toBe(false);
  expect(readAnswer(end, blanks, MARKER)).toEqual({ kind: 'unusable' });
  expect(readAnswer(end, `DONE${blanks}`, MARKER)).toEqual({ kind: 'text' });
});

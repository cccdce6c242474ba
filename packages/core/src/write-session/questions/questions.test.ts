import type { SessionQuestion } from '@orion/contracts';
import { ANSWER_WORDS, isSessionQuestion } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { answerOptions, choiceFor, choicesOf, openQuestionText } from './questions.ts';

const questions = {
  end: {
    kind: 'end',
    candidates: [
      { line: 9, contentEnd: 40, following: 'later' },
      { line: 3, contentEnd: 8, following: 'Hello.' },
    ],
  },
  near_miss: { kind: 'near_miss', text: 'DONE.', contentEnd: 4, heldBack: false },
  fence: { kind: 'fence', contentStart: 4, contentEnd: 9, firstLine: '```', lastLine: '```' },
  lead: { kind: 'lead', text: 'Here is the file:', contentStart: 19 },
  omission: { kind: 'omission', lines: [{ line: 3, text: '// ... rest' }], count: 1 },
} as const satisfies { readonly [Kind in SessionQuestion['kind']]: SessionQuestion };

const all = Object.entries(questions);

describe('R023, R021, R032, R271, R249: what each question offers, and what each answer does', () => {
  it.each<[SessionQuestion, readonly (readonly [string, object])[]]>([
    [
      questions.end,
      [
        ['END 9', { type: 'end_before', contentEnd: 40, doneLines: [3] }],
        ['END 3', { type: 'end_before', contentEnd: 8, doneLines: [] }],
        ['DONE', { type: 'keep_all', doneLines: [9, 3], heldText: null, nearMiss: null }],
      ],
    ],
    [
      questions.near_miss,
      [
        ['KEEP', { type: 'keep_all', doneLines: [], heldText: null, nearMiss: null }],
        ['DONE', { type: 'leave_out', contentEnd: 4, heldText: null }],
      ],
    ],
    [
      { ...questions.near_miss, heldBack: true },
      [
        ['KEEP', { type: 'keep_all', doneLines: [], heldText: 'DONE.', nearMiss: null }],
        ['DONE', { type: 'leave_out', contentEnd: 4, heldText: 'DONE.' }],
      ],
    ],
    [
      questions.fence,
      [
        ['STRIP', { type: 'strip_fence', contentStart: 4, contentEnd: 9 }],
        ['KEEP', { type: 'keep_all', doneLines: [], heldText: null, nearMiss: null }],
      ],
    ],
    [
      { ...questions.end, candidates: [], nearMiss: { text: 'DONE.', contentEnd: 50 } },
      [
        [
          'DONE',
          {
            type: 'keep_all',
            doneLines: [],
            heldText: null,
            nearMiss: { text: 'DONE.', contentEnd: 50 },
          },
        ],
      ],
    ],
    [
      questions.lead,
      [
        ['DROP', { type: 'drop_lead', contentStart: 19 }],
        ['KEEP', { type: 'keep_all', doneLines: [], heldText: null, nearMiss: null }],
      ],
    ],
    [
      questions.omission,
      [
        ['KEEP', { type: 'keep_all', doneLines: [], heldText: null, nearMiss: null }],
        ['AGAIN', { type: 'start_over' }],
      ],
    ],
  ])('%j', (question, choices) => {
    expect(choicesOf(question).map(({ reply, effect }) => [reply, effect])).toEqual(choices);
  });

  it('takes an answer that was offered, and no other', () => {
    expect(choiceFor(questions.end, { kind: 'end', line: 3 })?.reply).toBe('END 3');
    expect(choiceFor(questions.end, { kind: 'end', line: 4 })).toBeNull();
    expect(choiceFor(questions.end, { kind: 'keep' })).toBeNull();
    expect(choiceFor(questions.omission, { kind: 'again' })?.reply).toBe('AGAIN');
  });
});

it.each<[SessionQuestion, readonly string[]]>([
  [questions.end, ['--end-at 9', '--end-at 3', '--answer done']],
  [questions.near_miss, ['--answer keep', '--answer done']],
  [questions.fence, ['--answer strip', '--answer keep']],
  [questions.lead, ['--answer drop', '--answer keep']],
  [questions.omission, ['--answer keep']],
])('R074: a person answers with %j', (question, options) => {
  expect(answerOptions(question)).toEqual(options);
});

it('R074: every word of --answer answers a question, and a refusal names those of the open one', () => {
  const offered = all.flatMap(([, question]) => answerOptions(question));
  for (const word of ANSWER_WORDS) expect(offered).toContain(`--answer ${word}`);
  expect(openQuestionText(questions.end, 'a.md')).toBe(
    'It is open where a.md ends: add --end-at 9 or --end-at 3 or --answer done.',
  );
  expect(openQuestionText(questions.near_miss, 'a.md')).toBe(
    'It is open whether "DONE." belongs to a.md: add --answer keep or --answer done.',
  );
  expect(openQuestionText(questions.fence, 'a.md')).toBe(
    'It is open whether the fence around a.md belongs to it: add --answer strip or --answer keep.',
  );
  expect(openQuestionText(questions.lead, 'a.md')).toBe(
    'It is open whether "Here is the file:" at its beginning belongs to a.md: add --answer drop or --answer keep.',
  );
  expect(openQuestionText(questions.omission, 'a.md')).toBe(
    'It is open whether text was left out of a.md at line 3: add --answer keep.',
  );
});

describe('R055: a question that was read from a disk', () => {
  it.each(all)(
    '%s is taken as it was stored, and with any member missing it is not',
    (_, stored) => {
      expect(isSessionQuestion(JSON.parse(JSON.stringify(stored)))).toBe(true);
      for (const name of Object.keys(stored)) {
        expect(isSessionQuestion({ ...stored, [name]: undefined })).toBe(false);
      }
    },
  );

  it.each<[string, unknown]>([
    ['no object', 'end'],
    ['null', null],
    ['a list', [questions.fence]],
    ['an unknown kind', { ...questions.fence, kind: 'colour' }],
    ['a kind of another object', { ...questions.fence, kind: 'toString' }],
    ['a negative offset', { ...questions.fence, contentStart: -1 }],
    ['a near miss that is none', { ...questions.end, nearMiss: { text: 'DONE.' } }],
    ['a fraction', { ...questions.near_miss, contentEnd: 1.5 }],
    ['a candidate that is none', { kind: 'end', candidates: [null] }],
    [
      'a candidate without its line',
      { kind: 'end', candidates: [{ contentEnd: 1, following: '' }] },
    ],
    ['a line without its text', { ...questions.omission, lines: [{ line: 1 }] }],
  ])('%s is none', (_, value) => {
    expect(isSessionQuestion(value)).toBe(false);
  });
});

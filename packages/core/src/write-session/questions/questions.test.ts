import type { SessionQuestion } from '@orion/contracts';
import { ANSWER_WORDS, isSessionQuestion } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import type { Anchor } from '../text/seams/anchor.ts';
import {
  answerOptions,
  choiceFor,
  choicesOf,
  isClosed,
  openQuestionText,
  questionLine,
  questionPrompt,
} from './questions.ts';

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
    'First decide where a.md ends: add --end-at 9 or --end-at 3 or --answer done.',
  );
  expect(openQuestionText(questions.near_miss, 'a.md')).toBe(
    'First decide whether "DONE." belongs to a.md: add --answer keep or --answer done.',
  );
  expect(openQuestionText(questions.fence, 'a.md')).toBe(
    'First decide whether the fence around a.md belongs to it: add --answer strip or --answer keep.',
  );
  expect(openQuestionText(questions.lead, 'a.md')).toBe(
    'First decide whether "Here is the file:" at its beginning belongs to a.md: add --answer drop or --answer keep.',
  );
  expect(openQuestionText(questions.omission, 'a.md')).toBe(
    'First decide whether text was left out of a.md at line 3: add --answer keep.',
  );
});

it.each<[SessionQuestion, boolean, string]>([
  [questions.end, false, 'where a.md ends: DONE is on lines 9, 3, and more text follows it.'],
  [
    { ...questions.end, candidates: questions.end.candidates.slice(1) },
    false,
    'where a.md ends: DONE is on line 3, and more text follows it.',
  ],
  [
    questions.near_miss,
    false,
    'whether the end of its message is part of a.md: it may be a word about the file.',
  ],
  [
    { ...questions.near_miss, heldBack: true },
    false,
    'whether its last reply is part of a.md: it does not continue the file.',
  ],
  [questions.fence, true, 'whether the code fence around a.md is part of the file.'],
  [
    questions.lead,
    true,
    'whether the first words of its text are part of a.md: they may only announce it.',
  ],
  [
    questions.omission,
    true,
    'whether a.md is intended as it is: text seems to be left out at line 3.',
  ],
  [
    {
      ...questions.omission,
      lines: [1, 2, 3, 4, 5, 6].map((line) => ({ line, text: 'x' })),
      count: 6,
    },
    true,
    'whether a.md is intended as it is: text seems to be left out at lines 1, 2, 3, 4, 5 ….',
  ],
  [
    {
      ...questions.omission,
      lines: [1, 2, 3, 4, 5].map((line) => ({ line, text: 'x' })),
      count: 5,
    },
    true,
    'whether a.md is intended as it is: text seems to be left out at lines 1, 2, 3, 4, 5.',
  ],
])(
  'R014: what a person is told of %j, and whether only its own words answer it',
  (question, closed, line) => {
    expect(questionLine(question, 'a.md')).toBe(line);
    expect(isClosed(question)).toBe(closed);
  },
);

it('R074: a refusal quotes 80 characters, and names every line', () => {
  const text = 'x'.repeat(81);
  for (const question of [
    { ...questions.lead, text },
    { ...questions.near_miss, text },
  ])
    expect(openQuestionText(question, 'a.md')).toContain(`whether "${'x'.repeat(80)}" `);
  const lines = [3, 7].map((line) => ({ line, text: 'x' }));
  expect(openQuestionText({ ...questions.omission, lines, count: 2 }, 'a.md')).toBe(
    'First decide whether text was left out of a.md at line 3, 7: add --answer keep.',
  );
});

it('the model is asked about what the question says, and only the end of a file needs the anchor', () => {
  const anchor: Anchor = {
    kind: 'lines',
    lines: ['last'],
    blankLinesBehind: 0,
    openLine: '',
    repetitive: false,
    whole: true,
  };
  let searched = 0;
  const asked = {
    target: 'a.md',
    operation: 'replace',
    anchor: () => {
      searched += 1;
      return anchor;
    },
    tag: '7f3a',
    marker: 'DONE 7f3a',
  } as const;
  const ask = (question: SessionQuestion): string => questionPrompt(question, asked);
  expect(ask(questions.near_miss)).toBe(`Your message ended with: DONE.
Reply DONE 7f3a if that is not part of the file (it will be left out).
Reply KEEP if it is part of the file and the file is complete.`);
  expect(ask(questions.fence)).toBe(`The text for a.md begins with \`\`\` and ends with \`\`\`.
Reply STRIP if these only wrap the file. Reply KEEP if they are part of it.`);
  expect(ask(questions.lead)).toBe(`The text for a.md begins with: Here is the file:
Reply DROP if that is not part of the file (it will be left out). Reply KEEP if it is.`);
  expect(ask(questions.omission))
    .toBe(`What you wrote replaces a block of a.md. This line looks as if something was left out there:
3: // ... rest
Reply KEEP if it is meant to be exactly as you wrote it.
Reply AGAIN if anything is missing; then you will write all of it.`);
  expect(searched).toBe(0);
  expect(ask(questions.end))
    .toBe(`Line 9 of what is saved for a.md is DONE, and this comes after it: "later"
Line 3 of what is saved for a.md is DONE, and this comes after it: "Hello."
If you're finished, reply DONE 7f3a on its own line, or one of these lines:
END 9   if the file ends before line 9
END 3   if the file ends before line 3
DONE 7f3a if line 3 and what follows belong to the file, and the file is complete
If the file is not complete, start with exactly this line, then go on:
<tail-7f3a>
last
</tail-7f3a>`);
  expect(searched).toBe(1);
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

import { expect, it } from 'vitest';

import type { CommandAnswer } from './questions/question-row.ts';
import { SessionHarness } from './testing/session-harness.ts';

/** Hazard: a person answers the question that is open, and with it others that nobody has put yet. */

/** A message after which the model is not asked. */
function pausedAfter(text: string, target: string): SessionHarness {
  const harness = new SessionHarness({ target, settings: { idleMs: 0 } });
  harness.message(text);
  return harness;
}

const MARKDOWN_IN_A_FENCE = '```\n# Title\nDONE\n```';
const LEAD = 'Sure, here is the file:\n\n';

it.each<
  [
    name: string,
    target: string,
    text: string,
    answers: readonly CommandAnswer[],
    questions: readonly string[],
    file: string,
  ]
>([
  [
    'the fence around it',
    'a.md',
    MARKDOWN_IN_A_FENCE,
    [{ kind: 'end', line: 3 }, { kind: 'strip' }],
    ['end', 'fence'],
    '# Title\n',
  ],
  [
    'its last words',
    'a.txt',
    'Buy milk\nDONE\nWrite to Ann\nDONE.',
    [{ kind: 'done' }, { kind: 'done' }],
    ['end', 'near_miss'],
    'Buy milk\nDONE\nWrite to Ann\n',
  ],
  [
    'its first words, behind its end and its fence',
    'a.md',
    `${LEAD}${MARKDOWN_IN_A_FENCE}`,
    [{ kind: 'end', line: 5 }, { kind: 'keep' }, { kind: 'drop' }],
    ['end', 'fence', 'lead'],
    '```\n# Title\n',
  ],
])(
  'R279: with an answer by hand %s is asked about next, in a pause of its own',
  (_, target, text, answers, questions, file) => {
    const harness = pausedAfter(text, target);
    const asked: (string | undefined)[] = [];
    for (const answer of answers) {
      expect([harness.state, harness.ended]).toEqual(['session_active.paused', 'released']);
      asked.push(harness.record.question?.kind);
      harness.send({ type: 'finalize_command', answer });
    }
    expect(asked).toEqual(questions);
    expect(harness.file).toBe(file);
    // No model is there to be asked.
    expect(harness.prompts).toEqual([]);
  },
);

it('R249: and so is left-out text, which only the commit finds', () => {
  const harness = pausedAfter('one\nDONE\nbye.', 'a.txt');
  harness.send({ type: 'finalize_command', answer: { kind: 'end', line: 2 } });
  expect(harness.file).toBe('one\n');
  harness.send({ type: 'omissions_suspected', omissions: [{ line: 1, text: '...' }] });
  expect([harness.state, harness.record.question?.kind]).toEqual([
    'session_active.paused',
    'omission',
  ]);
  expect(harness.prompts).toEqual([]);
});

it('R074: what is saved, wanted without an answer, is written as it stands', () => {
  const harness = pausedAfter(`${LEAD}\`\`\`\none\n`, 'a.txt');
  expect(harness.record).not.toHaveProperty('question');
  harness.send({ type: 'finalize_command', answer: null });
  expect(harness.file).toBe(`${LEAD}\`\`\`\none\n`);
});

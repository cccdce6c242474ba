import { omissionPrompt } from '../text/prompts.ts';
import { choice, keepAll, namedLines } from './question-row.ts';
import type { QuestionRow } from './question-row.ts';

/** P10: do these lines, in a text that replaces another, stand for omitted text? */
export const omission: QuestionRow<'omission'> = {
  isClosed: true,
  choices: () => [choice('keep', keepAll), choice('again', { type: 'start_over' })],
  prompt: ({ lines, count }, { target, operation }) =>
    omissionPrompt({ lines, count, target, operation }),
  line: ({ lines, count }, target) =>
    `whether ${target} is intended as it is: text seems to be left out at ${namedLines(lines, count)}.`,
  open: ({ lines }, target) =>
    `whether text was left out of ${target} at line ${lines.map(({ line }) => line).join(', ')}`,
};

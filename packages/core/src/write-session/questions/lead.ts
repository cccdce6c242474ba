import { leadPrompt } from '../text/prompts.ts';
import { choice, keepAll } from './question-row.ts';
import type { QuestionRow } from './question-row.ts';

/** P11: do the first words talk about the file instead of being part of it? */
export const lead: QuestionRow<'lead'> = {
  isClosed: true,
  choices: ({ contentStart }) => [
    choice('drop', { type: 'drop_lead', contentStart }),
    choice('keep', keepAll),
  ],
  prompt: ({ text }, { target }) => leadPrompt({ text, target }),
  line: (_question, target) =>
    `whether the first words of its text are part of ${target}: they may only announce it.`,
  open: ({ text }, target) =>
    `whether ${JSON.stringify(text.slice(0, 80))} at its beginning belongs to ${target}`,
};

import { nearMissPrompt } from '../text/prompts.ts';
import { choice, keepAll } from './question-row.ts';
import type { QuestionRow } from './question-row.ts';

/** P4: is the end of the message, or a short reply that does not join, part of the file? */
export const nearMiss: QuestionRow<'near_miss'> = {
  isClosed: false,
  choices: ({ text, contentEnd, heldBack }) => {
    const heldText = heldBack ? text : null;
    return [
      choice('keep', { ...keepAll, heldText }),
      choice('done', { type: 'leave_out', contentEnd, heldText }),
    ];
  },
  prompt: ({ text }, { marker }) => nearMissPrompt({ text, marker }),
  line: ({ heldBack }, target) =>
    heldBack
      ? `whether its last reply is part of ${target}: it does not continue the file.`
      : `whether the end of its message is part of ${target}: it may be a word about the file.`,
  open: ({ text }, target) => `whether ${JSON.stringify(text.slice(0, 80))} belongs to ${target}`,
};

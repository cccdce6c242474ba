import { fencePrompt } from '../text/prompts.ts';
import { choice, keepAll } from './question-row.ts';
import type { QuestionRow } from './question-row.ts';

/** P5: do these fences only wrap the file? */
export const fence: QuestionRow<'fence'> = {
  isClosed: true,
  choices: ({ contentStart, contentEnd }) => [
    choice('strip', { type: 'strip_fence', contentStart, contentEnd }),
    choice('keep', keepAll),
  ],
  prompt: ({ firstLine, lastLine }, { target }) => fencePrompt({ target, firstLine, lastLine }),
  line: (_question, target) => `whether the code fence around ${target} is part of the file.`,
  open: (_question, target) => `whether the fence around ${target} belongs to it`,
};

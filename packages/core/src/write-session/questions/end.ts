import type { EndCandidate, SessionQuestion } from '@orion/contracts';

import type { NearMiss } from '../text/markers/marker-reader.ts';
import { endQuestionPrompt } from '../text/prompts.ts';
import { choice, keepAll, namedLines } from './question-row.ts';
import type { QuestionRow } from './question-row.ts';

/**
 * The question about the end of a text; null if there is none. Where the file ends is asked before what it ends with, so
 * that neither question is lost.
 */
export function endingQuestion(
  candidates: readonly EndCandidate[],
  nearMiss: NearMiss | null = null,
): SessionQuestion | null {
  if (candidates.length > 0)
    return { kind: 'end', candidates, ...(nearMiss === null ? {} : { nearMiss }) };
  return nearMiss === null ? null : { kind: 'near_miss', ...nearMiss, heldBack: false };
}

/** P3: text follows a bare DONE line; where does the file end? */
export const end: QuestionRow<'end'> = {
  isClosed: false,
  choices: ({ candidates, nearMiss = null }) => {
    const lines = candidates.map(({ line }) => line);
    return [
      ...candidates.map(({ line, contentEnd }) => ({
        reply: `END ${line}`,
        answer: { kind: 'end', line } as const,
        effect: {
          type: 'end_before',
          contentEnd,
          doneLines: lines.filter((each) => each < line),
        } as const,
      })),
      choice('done', { ...keepAll, doneLines: lines, nearMiss }),
    ];
  },
  prompt: ({ candidates }, { target, anchor, tag, marker }) =>
    endQuestionPrompt({ target, candidates, anchor: anchor(), tag, marker }),
  line: ({ candidates }, target) =>
    `where ${target} ends: DONE is on ${namedLines(candidates, candidates.length)}, and more text follows it.`,
  open: (_question, target) => `where ${target} ends`,
};

import type { SessionQuestion } from '@orion/contracts';

import { choicesOf } from '../questions/questions.ts';
import type { Step } from '../step.ts';
import { createAnswerReader } from '../text/answer-reader.ts';
import type { AnswerReader } from '../text/answer-reader.ts';
import { createAgainReader } from '../text/document-again.ts';
import type { AgainReader } from '../text/document-again.ts';
import { chooseAnchor } from '../text/seams/anchor.ts';

/** For a reply to the question; null stands for a prompt that `DONE` answers as well as text. */
export function answerReader(step: Step, question: SessionQuestion | null): AnswerReader {
  const { metadata, settings, summary } = step.session;
  return createAnswerReader({
    choices: question === null ? ['DONE'] : choicesOf(question).map(({ reply }) => reply),
    endMarker: metadata.end_marker,
    strict: settings.strict,
    anchor: summary.hasNonBlankLine ? chooseAnchor(summary) : null,
  });
}

/** For a reply to a question or an idle prompt; null if it cannot start the document over. */
export function againReader({ session }: Step): AgainReader | null {
  const { startedOver, summary, kind, metadata } = session;
  if (startedOver || !summary.hasNonBlankLine) return null;
  return createAgainReader(summary, { kind, target: metadata.target_file });
}

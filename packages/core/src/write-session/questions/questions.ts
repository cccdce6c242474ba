import type { SessionQuestion } from '@orion/contracts';

import { end } from './end.ts';
import { fence } from './fence.ts';
import { lead } from './lead.ts';
import { nearMiss } from './near-miss.ts';
import { omission } from './omission.ts';
import type { AskedAbout, Choice, QuestionAnswer, QuestionRow } from './question-row.ts';

/**
 * The questions about a text, one row for each kind. A new kind needs a member of `SessionQuestion`, its check there,
 * and a row here.
 */
const ROWS: { readonly [Kind in SessionQuestion['kind']]: QuestionRow<Kind> } = {
  end,
  near_miss: nearMiss,
  fence,
  lead,
  omission,
};

function rowOf({ kind }: SessionQuestion): QuestionRow<SessionQuestion['kind']> {
  // The compiler cannot see that a question and the row of its kind belong together.
  return ROWS[kind] as QuestionRow<SessionQuestion['kind']>;
}

/** Whether only its own words answer it; then no other reply is text of the file either. */
export function isClosed(question: SessionQuestion): boolean {
  return rowOf(question).isClosed;
}

/** The possible replies, in the order in which they are listed. */
export function choicesOf(question: SessionQuestion): readonly Choice[] {
  return rowOf(question).choices(question);
}

/** The choice with this answer; null if it was not offered. */
export function choiceFor(question: SessionQuestion, answer: QuestionAnswer): Choice | null {
  return choicesOf(question).find((each) => isSame(each.answer, answer)) ?? null;
}

function isSame(one: QuestionAnswer, other: QuestionAnswer): boolean {
  if (one.kind === 'end' && other.kind === 'end') return one.line === other.line;
  return one.kind === other.kind;
}

/** The prompt for the model. */
export function questionPrompt(question: SessionQuestion, asked: AskedAbout): string {
  return rowOf(question).prompt(question, asked);
}

/** The question as a person sees it, after `Asked the model`. */
export function questionLine(question: SessionQuestion, target: string): string {
  return rowOf(question).line(question, target);
}

/** How a person can answer it: the options of `recover-session --finalize`. */
export function answerOptions(question: SessionQuestion): readonly string[] {
  return choicesOf(question).flatMap(({ answer }) => {
    switch (answer.kind) {
      case 'end':
        return [`--end-at ${answer.line}`];
      case 'again':
        return [];
      default:
        return [`--answer ${answer.kind}`];
    }
  });
}

/** Why nothing is written while the question is open. */
export function openQuestionText(question: SessionQuestion, target: string): string {
  return `First decide ${rowOf(question).open(question, target)}: add ${answerOptions(question).join(' or ')}.`;
}

import type { AnswerWord, SessionQuestion, WriteOperation } from '@orion/contracts';

import type { NearMiss } from '../text/markers/marker-reader.ts';
import type { Anchor } from '../text/seams/anchor.ts';

/**
 * One kind of question: what the model is asked and can reply, what each reply does, and what a person sees and can
 * type. Code that depends on the kind of a question looks it up here, through `questions.ts`.
 */
export type QuestionRow<Kind extends SessionQuestion['kind']> = {
  /**
   * Whether only its own words answer it. If not, the model can also continue the file, and a DONE alone is an answer.
   */
  readonly isClosed: boolean;
  readonly choices: (question: QuestionOf<Kind>) => readonly Choice[];
  /** What the model reads. */
  readonly prompt: (question: QuestionOf<Kind>, asked: AskedAbout) => string;
  /** The question as a person sees it: `whether …` or `where …`, without the content that the prompt quotes (R014). */
  readonly line: (question: QuestionOf<Kind>, target: string) => string;
  /** What is open, for a refusal that lists the options: `First decide …`. */
  readonly open: (question: QuestionOf<Kind>, target: string) => string;
};

export type QuestionOf<Kind extends SessionQuestion['kind']> = Extract<
  SessionQuestion,
  { readonly kind: Kind }
>;

/** The facts about the session that a prompt needs in addition to its question. */
export type AskedAbout = {
  readonly target: string;
  readonly operation: WriteOperation;
  /** Computed only by prompts that quote it. */
  readonly anchor: () => Anchor;
  /** The first four hex digits of the session id. */
  readonly tag: string;
  /** The word that replaces `DONE` among the replies. */
  readonly marker: string;
};

export type Choice = {
  /** What the model replies, alone on a line. */
  readonly reply: string;
  readonly answer: QuestionAnswer;
  readonly effect: AnswerEffect;
};

export type QuestionAnswer =
  | { readonly kind: 'end'; readonly line: number }
  | { readonly kind: AnswerWord }
  /** Only the model can give this answer: it writes the text again. */
  | { readonly kind: 'again' };

/** A person's answer: what `--end-at` and `--answer` can say. */
export type CommandAnswer = Exclude<QuestionAnswer, { readonly kind: 'again' }>;

/** What an answer does to the saved text. */
export type AnswerEffect =
  /** All of it is the file, and so is `heldText`. */
  | {
      readonly type: 'keep_all';
      readonly doneLines: readonly number[];
      readonly heldText: string | null;
      /** What the same message ended with, to be asked about next. */
      readonly nearMiss: NearMiss | null;
    }
  | {
      readonly type: 'end_before';
      readonly contentEnd: number;
      /** The bare DONE lines before it, which are content. */
      readonly doneLines: readonly number[];
    }
  /** The text from `contentEnd` on is not part of the file; or `heldText` is not, which is set aside. */
  | {
      readonly type: 'leave_out';
      readonly contentEnd: number;
      readonly heldText: string | null;
    }
  | { readonly type: 'strip_fence'; readonly contentStart: number; readonly contentEnd: number }
  | { readonly type: 'drop_lead'; readonly contentStart: number }
  /** None of it is the file: the model writes it again. */
  | { readonly type: 'start_over' };

export const keepAll: Extract<AnswerEffect, { readonly type: 'keep_all' }> = {
  type: 'keep_all',
  doneLines: [],
  heldText: null,
  nearMiss: null,
};

/** A choice whose reply is its word in capitals. */
export function choice(kind: AnswerWord | 'again', effect: AnswerEffect): Choice {
  return { reply: kind.toUpperCase(), answer: { kind }, effect };
}

/** The largest number of lines that a sentence names. */
const NAMED_LINES = 5;

export function namedLines(places: readonly { readonly line: number }[], count: number): string {
  const lines = places.slice(0, NAMED_LINES).map(({ line }) => line);
  return `${count === 1 ? 'line' : 'lines'} ${lines.join(', ')}${count > lines.length ? ' …' : ''}`;
}

import type { AnswerWord, SessionQuestion, WriteOperation } from '@orion/contracts';

import type { NearMiss } from '../text/markers/marker-reader.ts';
import type { Anchor } from '../text/seams/anchor.ts';

/**
 * One kind of question, wholly: what the model is asked and may reply, what each reply does, and what a person is
 * told and can type. Everything that knows kinds of questions reads it from here (`questions.ts`).
 */
export type QuestionRow<Kind extends SessionQuestion['kind']> = {
  /**
   * Whether only its own words answer it. To the others the model may go on with the file instead, and a DONE behind
   * nothing else is an answer.
   */
  readonly isClosed: boolean;
  readonly choices: (question: QuestionOf<Kind>) => readonly Choice[];
  /** What the model reads. */
  readonly prompt: (question: QuestionOf<Kind>, asked: AskedAbout) => string;
  /** What the model is asked, for a person: `whether …` or `where …`, never the content that the prompt quotes (R014). */
  readonly line: (question: QuestionOf<Kind>, target: string) => string;
  /** What is open, for a refusal that names the options: `It is open …`. */
  readonly open: (question: QuestionOf<Kind>, target: string) => string;
};

export type QuestionOf<Kind extends SessionQuestion['kind']> = Extract<
  SessionQuestion,
  { readonly kind: Kind }
>;

/** What a prompt tells of the session beside its question. */
export type AskedAbout = {
  readonly target: string;
  readonly operation: WriteOperation;
  /** Searched only by the prompts that quote it. */
  readonly anchor: () => Anchor;
  /** The first four hex digits of the session id. */
  readonly tag: string;
  /** What stands for `DONE` among the replies. */
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
  /** The model's alone: it writes the text once more. */
  | { readonly kind: 'again' };

/** A person's answer: what `--end-at` and `--answer` can say. */
export type CommandAnswer = Exclude<QuestionAnswer, { readonly kind: 'again' }>;

/** What an answer makes of the saved text. */
export type AnswerEffect =
  /** All of it is the file; with `heldText`, that too. */
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
  /** The end, from there on, is none of the file; or `heldText`, which is set aside. */
  | {
      readonly type: 'leave_out';
      readonly contentEnd: number;
      readonly heldText: string | null;
    }
  | { readonly type: 'strip_fence'; readonly contentStart: number; readonly contentEnd: number }
  | { readonly type: 'drop_lead'; readonly contentStart: number }
  /** None of it: the model writes it once more. */
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

/** Most lines that are named in a sentence. */
const NAMED_LINES = 5;

export function namedLines(places: readonly { readonly line: number }[], count: number): string {
  const lines = places.slice(0, NAMED_LINES).map(({ line }) => line);
  return `${count === 1 ? 'line' : 'lines'} ${lines.join(', ')}${count > lines.length ? ' …' : ''}`;
}

import { isCount, isFields } from './text/fields.ts';
import type { Fields } from './text/fields.ts';

/** A question to the model that stays open, and in `state.json`, until it is answered. */
export type SessionQuestion =
  /** Where the file ends: at one of the bare DONE lines followed by text, or after all of the text. */
  | {
      readonly kind: 'end';
      readonly candidates: readonly EndCandidate[];
      /** The end of the same message, which is asked about next unless the file ends before it. */
      readonly nearMiss?: { readonly text: string; readonly contentEnd: number };
    }
  /** Whether something like DONE, or a short reply that does not join, belongs to the file. */
  | {
      readonly kind: 'near_miss';
      readonly text: string;
      readonly contentEnd: number;
      /** The text is a reply that does not join the saved text, and not yet part of the content. */
      readonly heldBack: boolean;
    }
  /** Whether the first and the last line only wrap the file. */
  | {
      readonly kind: 'fence';
      readonly contentStart: number;
      readonly contentEnd: number;
      readonly firstLine: string;
      readonly lastLine: string;
    }
  /** Whether the first words only announce the file, which begins at `contentStart` then. */
  | { readonly kind: 'lead'; readonly text: string; readonly contentStart: number }
  /** Placeholder lines for omitted text, in a file that replaces another: the first of `count`. */
  | {
      readonly kind: 'omission';
      readonly lines: readonly { readonly line: number; readonly text: string }[];
      readonly count: number;
    };

/** A place at which the file may end: before the bare `DONE` that is `line`, counted from 1. */
export type EndCandidate = {
  readonly line: number;
  /** Bytes of content before that line. */
  readonly contentEnd: number;
  /** The first words after it, for the question. */
  readonly following: string;
};

/** The answers that a user can give to an open question, besides the line at which the file ends. */
export const ANSWER_WORDS = ['keep', 'strip', 'drop', 'done'] as const;
export type AnswerWord = (typeof ANSWER_WORDS)[number];

/** One check for each kind: a new kind without a check does not compile. */
const CHECKS: Readonly<Record<SessionQuestion['kind'], (fields: Fields) => boolean>> = {
  end: ({ candidates, nearMiss }) =>
    isListOf(
      candidates,
      (each) => isCount(each['line']) && isCount(each['contentEnd']) && isText(each['following']),
    ) &&
    (nearMiss === undefined ||
      (isFields(nearMiss) && isText(nearMiss['text']) && isCount(nearMiss['contentEnd']))),
  near_miss: ({ text, contentEnd, heldBack }) =>
    isText(text) && isCount(contentEnd) && typeof heldBack === 'boolean',
  fence: ({ contentStart, contentEnd, firstLine, lastLine }) =>
    isCount(contentStart) && isCount(contentEnd) && isText(firstLine) && isText(lastLine),
  lead: ({ text, contentStart }) => isText(text) && isCount(contentStart),
  omission: ({ lines, count }) =>
    isListOf(lines, (each) => isCount(each['line']) && isText(each['text'])) && isCount(count),
};

/** Validates what was read from disk, which may be anything. */
export function isSessionQuestion(value: unknown): value is SessionQuestion {
  if (!isFields(value)) return false;
  const { kind } = value;
  return isText(kind) && Object.hasOwn(CHECKS, kind) && CHECKS[kind as keyof typeof CHECKS](value);
}

function isListOf(value: unknown, isItem: (item: Fields) => boolean): boolean {
  return Array.isArray(value) && value.every((item: unknown) => isFields(item) && isItem(item));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

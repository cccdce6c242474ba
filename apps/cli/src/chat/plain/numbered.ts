import { formatCount } from '../../terminal/format.ts';
import { sanitizeLine } from '../../terminal/sanitize.ts';
import type { FaceChoice, FaceQuestion } from '../face.ts';

type Pick = Extract<FaceQuestion, { kind: 'pick' }>;

/** A question as lines with numbers before its answers, and what is typed behind. */
export type NumberedQuestion = {
  readonly lines: readonly string[];
  readonly invitation: string;
  /** Values of the numbered answers, in their order. */
  readonly values: readonly string[];
};

/** What a typed line means for a question. */
export type NumberedAnswer =
  | { readonly kind: 'answer'; readonly value: string | null; readonly text: string }
  /** The choice needs a line of text, too. */
  | { readonly kind: 'asksFor'; readonly choice: FaceChoice; readonly what: string }
  | { readonly kind: 'filter'; readonly words: string }
  | { readonly kind: 'none' };

/** More than these is narrowed down by typing. */
const MAX_ITEMS = 20;

export function numberQuestion(question: FaceQuestion, filter = ''): NumberedQuestion {
  if (question.kind === 'choice') {
    const values = question.choices.map((choice) => choice.key);
    const preset = values.indexOf(question.preset ?? '') + 1;
    return {
      lines: [
        ...question.text.split('\n').map(sanitizeLine),
        ...question.choices.map(({ label }, index) => `${index + 1} ${sanitizeLine(label)}`),
      ],
      invitation: `Your choice${preset === 0 ? '' : ` (Enter takes ${preset})`}: `,
      values,
    };
  }
  const fitting = question.items.filter((item) => fits(item, filter));
  const shown = fitting.slice(0, MAX_ITEMS);
  const more = fitting.length - shown.length;
  return {
    lines: [
      ...question.text.split('\n').map(sanitizeLine),
      ...shown.map(({ label, detail }, index) =>
        sanitizeLine(`${index + 1} ${label}${detail === '' ? '' : `  ${detail}`}`),
      ),
      ...(shown.length === 0 ? [`Nothing has ${sanitizeLine(filter)} in it.`] : []),
      ...(more > 0 ? [`${formatCount(more)} more: type a part of one.`] : []),
      '0 None of these',
    ],
    invitation: 'A number, or a part of what you look for: ',
    values: shown.map(({ value }) => value),
  };
}

/** `values` are those of the numbers that were shown. */
export function readAnswer(
  question: FaceQuestion,
  values: readonly string[],
  typed: string,
): NumberedAnswer {
  const words = typed.trim();
  const number = /^\d+$/u.test(words) ? Number(words) : null;
  if (question.kind === 'pick') {
    if (number === 0) return { kind: 'answer', value: null, text: '' };
    const value = number === null ? undefined : values[number - 1];
    if (value !== undefined) return { kind: 'answer', value, text: '' };
    return number === null ? { kind: 'filter', words } : { kind: 'none' };
  }
  const [first = '', ...rest] = words.split(/\s+/u);
  const key = words === '' ? question.preset : numberedKey(values, first);
  const choice = question.choices.find((each) => meansChoice(each, key ?? ''));
  if (choice === undefined) return { kind: 'none' };
  const text = words.slice(first.length).trim();
  if (rest.length === 0 && choice.asksFor !== null) {
    return { kind: 'asksFor', choice, what: choice.asksFor };
  }
  if (rest.length > 0 && choice.asksFor === null) return { kind: 'none' };
  return { kind: 'answer', value: choice.key, text };
}

function numberedKey(values: readonly string[], word: string): string {
  return /^\d+$/u.test(word) ? (values[Number(word) - 1] ?? '') : word;
}

/** Its letter, or the word that its label begins with: `y` and `yes` for `(y)es`. */
function meansChoice({ key, label }: FaceChoice, typed: string): boolean {
  const word = /^[\p{L}()]+/u.exec(label)?.[0].replaceAll(/[()]/gu, '') ?? key;
  return [key, word].some((each) => each.toLowerCase() === typed.toLowerCase());
}

function fits({ label, detail }: Pick['items'][number], filter: string): boolean {
  const text = `${label} ${detail}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => text.includes(word));
}

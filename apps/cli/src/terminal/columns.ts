import { cutToColumns } from '@orion/contracts';

/** Longer lines are hard to read. */
export const MAX_PROSE_COLUMNS = 100;

/** Columns that a text takes on most terminals. */
export function columnsOf(text: string): number {
  return /^[\u0020-\u007E]*$/u.test(text)
    ? text.length
    : cutToColumns(text, Number.POSITIVE_INFINITY).width;
}

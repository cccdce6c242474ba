import type { Message } from '@orion/contracts';

const MAX_TITLE = 80;

/** The first words of the first user message, on one line and safe to print. */
export function titleOf(history: readonly Message[]): string {
  return cleanTitle(history.find((message) => message.role === 'user')?.content ?? '');
}

/** One line that is safe to print. */
export function cleanTitle(first: string): string {
  // The beginning is enough: a prompt may contain a whole file.
  const words = first
    .slice(0, MAX_TITLE * 8)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  const characters = [...words];
  if (characters.length <= MAX_TITLE) return words;
  const cut = characters.slice(0, MAX_TITLE - 1).join('');
  const lastSpace = cut.lastIndexOf(' ');
  return `${lastSpace > MAX_TITLE / 2 ? cut.slice(0, lastSpace) : cut}…`;
}

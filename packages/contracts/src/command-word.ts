/** Words in which no shell sees a special character. */
const PLAIN = /^[\w./@%+,:-][\w./@%+,:~-]*$/u;
/** Words that POSIX shells, PowerShell and cmd.exe all leave unchanged between double quotes. */
const QUOTABLE = /^(?:[^"$`\\!%]|\\(?![\\]|$))+$/u;

/** Quotes a word of a command so that it can be typed in any shell, or in a POSIX shell if no common form exists. */
export function commandWord(word: string): string {
  if (PLAIN.test(word)) return word;
  return QUOTABLE.test(word) ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

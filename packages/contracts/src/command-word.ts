/** What no shell gives a meaning to. */
const PLAIN = /^[\w./@%+,:-][\w./@%+,:~-]*$/u;
/** What stays as it is between the double quotes of POSIX shells, PowerShell and cmd.exe alike. */
const QUOTABLE = /^(?:[^"$`\\!%]|\\(?![\\]|$))+$/u;

/** A word of a command that can be typed as it stands; what only a POSIX shell can take is quoted for one. */
export function commandWord(word: string): string {
  if (PLAIN.test(word)) return word;
  return QUOTABLE.test(word) ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

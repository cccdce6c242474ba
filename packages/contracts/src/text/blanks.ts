/** Whether a code unit is a space, a tab or a CR, which are invisible at the end of a line. */
export function isBlankCode(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d;
}

export function isBlankOrLineFeed(code: number): boolean {
  return code === 0x0a || isBlankCode(code);
}

/** The offset of the first character that is neither a blank nor a line ending, or the length of the text. */
export function inkStartOf(text: string): number {
  let start = 0;
  while (start < text.length && isBlankOrLineFeed(text.charCodeAt(start))) start += 1;
  return start;
}

/** The offset after the last character before `end` that is neither a blank nor a line ending, or 0. */
export function inkEndOf(text: string, end: number = text.length): number {
  let found = end;
  while (found > 0 && isBlankOrLineFeed(text.charCodeAt(found - 1))) found -= 1;
  return found;
}

/** Whether a text contains only blanks and line endings. */
export function isBlankText(text: string): boolean {
  return inkStartOf(text) === text.length;
}

/** Whether a code unit is a space, a tab or a CR: what may stand unseen at a line's end. */
export function isBlankCode(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d;
}

export function isBlankOrLineFeed(code: number): boolean {
  return code === 0x0a || isBlankCode(code);
}

/** Where the first character stands that is neither a blank nor a line ending; the text's length if none is. */
export function inkStartOf(text: string): number {
  let start = 0;
  while (start < text.length && isBlankOrLineFeed(text.charCodeAt(start))) start += 1;
  return start;
}

/** Behind the last character before `end` that is neither a blank nor a line ending; 0 if none is. */
export function inkEndOf(text: string, end: number = text.length): number {
  let found = end;
  while (found > 0 && isBlankOrLineFeed(text.charCodeAt(found - 1))) found -= 1;
  return found;
}

/** Whether a text of any number of lines has nothing but blanks. */
export function isBlankText(text: string): boolean {
  return inkStartOf(text) === text.length;
}

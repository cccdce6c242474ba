/** What a line looks like that may turn out to be an end marker or a fence, or the start of one. */
const POSSIBLE_MARKER = /^[ \t*_#>`~-]*(?:[*_#>`~-]|D|DO|DON|DONE.{0,8})[ \t\r\n]*$/;
/** A reply whose place is not proven is decided at every line end, and every 512 characters. */
const UNDECIDED_CHARACTERS = 512;
/** Nothing longer is looked at as a possible marker. */
const MARKER_CHARACTERS = 128;

/**
 * Whether R052 allows text to be missing although it arrived in time: a possible marker at the start of a line, half
 * of a surrogate pair, or the beginning of a continuation.
 */
export function mayBeHeldBack(document: string, savedCharacters: number, text: string): boolean {
  if (text.length <= 1 && /[\ud800-\udbff]/.test(text)) return true;
  const lineStart = document.lastIndexOf('\n', savedCharacters - 1) + 1;
  const line = document.slice(lineStart, savedCharacters) + text;
  return text.length <= MARKER_CHARACTERS && POSSIBLE_MARKER.test(line);
}

export function mayBeUndecided(text: string): boolean {
  return text.length <= UNDECIDED_CHARACTERS;
}

/**
 * Rewrites an expression so that no match crosses a line, so that a whole text can be searched at once instead of line
 * by line. Every line that the original matches is still found; some lines may be found that it does not match.
 */

/** Escapes that never match a line feed, apart from those of punctuation. */
const HARMLESS = /^[dwSbBtvfr1-9]$/u;
/** In a class, `\b` is a backspace, and there are no references. */
const HARMLESS_IN_CLASS = /^[dwSbtvfr]$/u;
const PUNCTUATION = /^[^\w\s]$/u;
const WITHOUT_LINE_FEED: Readonly<Record<string, string>> = { s: '[^\\S\\n]', D: '[^\\d\\n]' };
const BLANKS =
  '\\t\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
/** Groups that neither look around nor change flags. */
const PLAIN_GROUP = /^\(\?(?::|<[^=!])/u;

/** Null where it is not certain. */
export function withinLines(pattern: string): string | null {
  // oxlint-disable-next-line no-control-regex -- a range may begin with one
  if (/[\u0000-\u001f]/u.test(pattern)) return null;
  let within = '';
  let at = 0;
  while (at < pattern.length) {
    const piece = pattern[at] === '[' ? classAt(pattern, at) : atomAt(pattern, at);
    if (piece === null) return null;
    within += piece.text;
    at = piece.end;
  }
  return within;
}

type Piece = { readonly text: string; readonly end: number } | null;

function atomAt(pattern: string, at: number): Piece {
  const character = pattern.charAt(at);
  if (character === '(' && pattern[at + 1] === '?') {
    return PLAIN_GROUP.test(pattern.slice(at, at + 4)) ? { text: '(?', end: at + 2 } : null;
  }
  if (character !== '\\') return { text: character, end: at + 1 };
  const escaped = pattern.charAt(at + 1);
  const text =
    WITHOUT_LINE_FEED[escaped] ?? (isHarmless(escaped, HARMLESS) ? `\\${escaped}` : null);
  return text === null ? null : { text, end: at + 2 };
}

function isHarmless(escaped: string, letters: RegExp): boolean {
  return letters.test(escaped) || PUNCTUATION.test(escaped);
}

/** A class with `[^` gets a line feed; in any other, an escape must not match one or begin a range. */
function classAt(pattern: string, start: number): Piece {
  const isNegated = pattern[start + 1] === '^';
  let at = start + (isNegated ? 2 : 1);
  if (isNegated && pattern[at] === '-') return null;
  let text = isNegated ? '[^\\n' : '[';
  while (at < pattern.length && pattern[at] !== ']') {
    const character = pattern.charAt(at);
    if (character !== '\\') {
      text += character;
      at += 1;
      continue;
    }
    const escaped = pattern.charAt(at + 1);
    if (isNegated) {
      text += `\\${escaped}`;
    } else {
      const inRange =
        pattern[at - 1] === '-' || (pattern[at + 2] === '-' && pattern[at + 3] !== ']');
      const isBlank = escaped === 's';
      if (inRange || !(isBlank || isHarmless(escaped, HARMLESS_IN_CLASS))) return null;
      text += isBlank ? BLANKS : `\\${escaped}`;
    }
    at += 2;
  }
  return at < pattern.length ? { text: `${text}]`, end: at + 1 } : null;
}

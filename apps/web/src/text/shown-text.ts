import { visibleName } from '@orion/contracts';

/**
 * Text that people decide about, such as a command: everything in it is in sight (B16, B18).
 *
 * 1. A character that is not seen is an escape.
 * 2. Blanks and empty lines that would push text out of sight are counted instead of drawn.
 */
export type ShownPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'blanks'; readonly count: number };

/** More blanks in a row are counted; deeper indentation is rare. */
const MOST_BLANKS = 80;
/** The same of empty lines. */
const MOST_EMPTY_LINES = 2;
const BLANKS = new RegExp(String.raw`[ \t]{${MOST_BLANKS + 1},}`, 'u');

/** The parts of one line. */
export function partsOfLine(line: string): readonly ShownPart[] {
  const parts: ShownPart[] = [];
  let rest = line;
  for (let found = BLANKS.exec(rest); found !== null; found = BLANKS.exec(rest)) {
    if (found.index > 0) parts.push(shown(rest.slice(0, found.index)));
    parts.push({ kind: 'blanks', count: found[0].length });
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest !== '' || parts.length === 0) parts.push(shown(rest));
  return parts;
}

/** Has nothing but blanks; other characters that are not seen are shown. */
export function isEmptyLine(line: string): boolean {
  return /^[ \t]*$/u.test(line);
}

/** A run of lines with nothing to see is one entry with their number. */
export function foldEmpty<Line>(
  lines: readonly Line[],
  isEmpty: (line: Line) => boolean,
): readonly (Line | { readonly emptyLines: number; readonly like: Line })[] {
  const folded: (Line | { readonly emptyLines: number; readonly like: Line })[] = [];
  let from = 0;
  while (from < lines.length) {
    let to = from;
    while (to < lines.length && isEmpty(lines[to] as Line)) to += 1;
    if (to - from > MOST_EMPTY_LINES) {
      folded.push({ emptyLines: to - from, like: lines[from] as Line });
      from = to;
      continue;
    }
    folded.push(...lines.slice(from, to + 1));
    from = to + 1;
  }
  return folded;
}

/** How many characters of a text are not seen; line feeds and tabs are. */
export function countUnseen(text: string): number {
  let count = 0;
  visibleName(text, (character) => {
    if (character !== '\n' && character !== '\t') count += 1;
    return character;
  });
  return count;
}

/** A tab is seen as the space that it takes. */
function shown(text: string): ShownPart {
  const escape = (character: string): string =>
    character === '\t' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  return { kind: 'text', text: visibleName(text, escape) };
}

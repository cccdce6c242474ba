/**
 * Lines of a diff for a person who has to judge them: nothing hides by being invisible, by pushing the rest out of
 * sight, or by leaving it to the eye to see that something is missing.
 *
 * 1. Characters that are not seen become visible escapes, unless a script or an emoji wants the single one.
 * 2. A long run of blanks inside or at the end of a line is replaced by its length.
 * 3. Many empty lines in a row are replaced by their number.
 */
import { formatCount, plural } from './format.ts';
import { sanitizeProse } from './sanitize.ts';

const MAX_BLANKS = 80;
const MAX_EMPTY_LINES = 10;

const BLANKS = new RegExp(`[\\p{Zs}\\t]{${MAX_BLANKS},}`, 'gu');

/** One line of a diff; a carriage return at its end is shown. */
export function diffLine(line: string): string {
  const shown = line.replaceAll(BLANKS, (run) => `[${formatCount(run.length)} blanks]`);
  return sanitizeProse(shown);
}

/**
 * Lines of a diff, with runs of empty ones shortened. `crlf`: every line ends in CRLF, before and after, which is
 * said once instead of at each line.
 */
export async function* diffLines(
  lines: AsyncIterable<string>,
  crlf: boolean,
): AsyncGenerator<string, void> {
  if (crlf) yield '(all lines end in CRLF)';
  let sign = '';
  let count = 0;
  for await (const given of lines) {
    const line = crlf && given.endsWith('\r') ? given.slice(0, -1) : given;
    const isEmpty = /^[ +-][\t\r \u00A0]*$/u.test(line);
    const own = isEmpty ? line.charAt(0) : '';
    if (own !== sign && count > MAX_EMPTY_LINES) yield moreLines(sign, count);
    count = own === sign ? count + 1 : 1;
    sign = own;
    if (!isEmpty || count <= MAX_EMPTY_LINES) yield diffLine(line);
  }
  if (sign !== '' && count > MAX_EMPTY_LINES) yield moreLines(sign, count);
}

function moreLines(sign: string, count: number): string {
  return `${sign}[${plural(count - MAX_EMPTY_LINES, 'more empty line')}]`;
}

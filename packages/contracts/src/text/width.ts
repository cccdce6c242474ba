/** Scripts whose characters usually take two columns of a terminal. Too wide a guess costs nothing but a blank. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F000}-\u{3FFFF}]/u;

/** The beginning of a line that fits into so many columns of a terminal, and how many it takes. */
export function cutToColumns(
  text: string,
  columns: number,
): { readonly text: string; readonly width: number } {
  let width = 0;
  let shown = '';
  for (const character of text) {
    const next = WIDE.test(character) ? 2 : 1;
    if (width + next > columns) break;
    width += next;
    shown += character;
  }
  return { text: shown, width };
}

/** `{2}`, `{2,}` and `{2,3}`. */
const COUNT = /^\{\d+(?:,\d*)?\}/u;
const PLAIN = /^[\w\-/"'#%&,:;<=>@`~! ]$/u;
/** Escapes of one character. */
const SHORT_ESCAPE = /^[dDwWsSbBtnrvf!-/:-@[-`{-~]$/u;
const PUNCTUATION = /^[!-/:-@[-`{-~]$/u;

/**
 * The longest text in ASCII that every match of this expression contains, so that a file without it need not be
 * searched; null if there is none that is easy to see. The expression must not ignore case.
 */
export function requiredText(pattern: string): string | null {
  let longest = '';
  let run = '';
  const endRun = (): void => {
    if (run.length > longest.length) longest = run;
    run = '';
  };
  let at = 0;
  while (at < pattern.length) {
    const character = pattern.charAt(at);
    const count = character === '{' ? COUNT.exec(pattern.slice(at, at + 30)) : null;
    const next = pattern.charAt(at + 1);
    const isUnknown = character === '\\' && !SHORT_ESCAPE.test(next);
    if (character === '|' || character === ')' || isUnknown) return null;
    if (character === '\\' && PUNCTUATION.test(next)) {
      run += next;
      at += 2;
    } else if (PLAIN.test(character)) {
      run += character;
      at += 1;
    } else {
      // What may be left out or repeated by one of these is the last character of the run.
      if (character === '*' || character === '?' || count !== null) run = run.slice(0, -1);
      endRun();
      at = count === null ? skipFrom(pattern, at) : at + count[0].length;
    }
  }
  endRun();
  return longest.length < 2 ? null : longest;
}

/** Behind a group, class, escape or single character that is not plain. */
function skipFrom(pattern: string, start: number): number {
  let depth = 0;
  let inClass = false;
  let at = start;
  do {
    const character = pattern.charAt(at);
    if (character === '\\') {
      at += 1;
    } else if (inClass) {
      inClass = character !== ']';
    } else if (character === '[') {
      inClass = true;
    } else if (character === '(') {
      depth += 1;
    } else if (character === ')') {
      depth -= 1;
    }
    at += 1;
  } while (at < pattern.length && (depth > 0 || inClass));
  return at;
}

/**
 * The commands of a shell line, as far as they can be told without a shell.
 *
 * 1. A line is `plain` only if a POSIX shell runs exactly the listed commands with exactly the listed words, or some
 *    of them (`&&`, `||`). Whatever gives any other character a meaning makes the line `opaque`.
 * 2. In doubt a line is opaque: that costs a question, the opposite costs control.
 * 3. One pass; the cost grows with the length of the line.
 */
export type CommandLine =
  | { readonly kind: 'plain'; readonly commands: readonly (readonly string[])[] }
  | { readonly kind: 'opaque'; readonly because: string };

/** Unquoted, these start an expansion, a redirection, a group or a comment, or are read by some shells only. */
const SPECIAL = new Set('$`<>(){}[]*?!~#\\^');
/** These keep a meaning inside of double quotes. */
const SPECIAL_IN_QUOTES = new Set('$`\\!');
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/** At the beginning of a command these are grammar, not programs. */
const RESERVED = new Set(
  'if then else elif fi for while until do done case esac in select function time coproc'.split(
    ' ',
  ),
);

const isControl = (character: string): boolean =>
  (character < ' ' && character !== '\t' && character !== '\n') || character === '\u007F';

/** Reads a shell line. Blanks separate words; `;`, `&&`, `||`, `|` and line feeds separate commands. */
export function readCommandLine(line: string): CommandLine {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | null = null;
  /** Whether any part of the word was quoted: a quoted `if` is a program's name. */
  let quoted = false;
  /** Behind `&&`, `||` and `|`, across line feeds. */
  let expectsCommand = false;

  const opaque = (because: string): CommandLine => ({ kind: 'opaque', because });
  const endWord = (): string | null => {
    if (word === null) return null;
    const ended = word;
    word = null;
    if (words.length === 0) {
      if (ended === '') return 'a command without a name';
      if (/\s/.test(ended)) return 'a blank in the name of a program';
      if (ASSIGNMENT.test(ended)) return 'an assignment';
      if (!quoted && RESERVED.has(ended)) return `the shell's word ${ended}`;
    }
    words.push(ended);
    quoted = false;
    return null;
  };
  const endCommand = (required: boolean): string | null => {
    const refusal = endWord();
    if (refusal !== null) return refusal;
    if (words.length === 0) return required ? 'a separator without a command' : null;
    commands.push(words);
    words = [];
    expectsCommand = false;
    return null;
  };

  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (isControl(character)) return opaque('a control character');
    if (character === "'" || character === '"') {
      const end = line.indexOf(character, at + 1);
      if (end === -1) return opaque('a quote that is not closed');
      const inside = line.slice(at + 1, end);
      for (const each of inside) {
        if (isControl(each)) return opaque('a control character');
        if (character === '"' && SPECIAL_IN_QUOTES.has(each))
          return opaque(`the character ${each}`);
      }
      word = (word ?? '') + inside;
      quoted = true;
      at = end;
      continue;
    }
    if (SPECIAL.has(character)) return opaque(`the character ${character}`);
    let refusal: string | null = null;
    if (character === ' ' || character === '\t') {
      refusal = endWord();
    } else if (character === '\n') {
      refusal = endCommand(false);
    } else if (character === ';') {
      refusal = endCommand(true);
    } else if (character === '&' || character === '|') {
      const isDouble = line.charAt(at + 1) === character;
      if (character === '&' && !isDouble) return opaque('the character &');
      if (isDouble) at += 1;
      refusal = endCommand(true);
      expectsCommand = true;
    } else {
      word = (word ?? '') + character;
    }
    if (refusal !== null) return opaque(refusal);
  }
  const refusal = endCommand(expectsCommand);
  if (refusal !== null) return opaque(refusal);
  if (commands.length === 0) return opaque('no command');
  return { kind: 'plain', commands };
}

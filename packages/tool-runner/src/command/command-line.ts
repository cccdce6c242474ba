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
  | { readonly kind: 'opaque' };

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

const OPAQUE: CommandLine = { kind: 'opaque' };

/** Reads a shell line. Blanks separate words; `;`, `&&`, `||`, `|` and line feeds separate commands. */
export function readCommandLine(line: string): CommandLine {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | null = null;
  /** Whether any part of the word was quoted: a quoted `if` is a program's name. */
  let quoted = false;
  /** Behind `&&`, `||` and `|`, across line feeds. */
  let expectsCommand = false;

  /** False where the line is opaque. */
  const endWord = (): boolean => {
    if (word === null) return true;
    const ended = word;
    word = null;
    if (words.length === 0) {
      const isName = ended !== '' && !/\s/.test(ended) && !ASSIGNMENT.test(ended);
      if (!isName || (!quoted && RESERVED.has(ended))) return false;
    }
    words.push(ended);
    quoted = false;
    return true;
  };
  /** The same. */
  const endCommand = (required: boolean): boolean => {
    if (!endWord()) return false;
    if (words.length === 0) return !required;
    commands.push(words);
    words = [];
    expectsCommand = false;
    return true;
  };

  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (isControl(character) || SPECIAL.has(character)) return OPAQUE;
    if (character === "'" || character === '"') {
      const end = line.indexOf(character, at + 1);
      if (end === -1) return OPAQUE;
      const inside = line.slice(at + 1, end);
      for (const each of inside) {
        if (isControl(each) || (character === '"' && SPECIAL_IN_QUOTES.has(each))) return OPAQUE;
      }
      word = (word ?? '') + inside;
      quoted = true;
      at = end;
      continue;
    }
    let isRead = true;
    if (character === ' ' || character === '\t') {
      isRead = endWord();
    } else if (character === '\n') {
      isRead = endCommand(false);
    } else if (character === ';') {
      isRead = endCommand(true);
    } else if (character === '&' || character === '|') {
      const isDouble = line.charAt(at + 1) === character;
      if (character === '&' && !isDouble) return OPAQUE;
      if (isDouble) at += 1;
      isRead = endCommand(true);
      expectsCommand = true;
    } else {
      word = (word ?? '') + character;
    }
    if (!isRead) return OPAQUE;
  }
  if (!endCommand(expectsCommand) || commands.length === 0) return OPAQUE;
  return { kind: 'plain', commands };
}

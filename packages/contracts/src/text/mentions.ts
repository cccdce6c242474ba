import { quotedName } from './invisible.ts';

/**
 * How a person names a path in a prompt: `@src/cli.ts`, and `@"two words.md"`, a JSON string, where the path has blanks,
 * quotes, characters that are not seen, or an end that a sentence could have. Whether such a name is one only the workspace knows: `@scope/package` and `@here` are
 * written the same way. An `@` within a word, as in an e-mail address, never begins a name.
 */
export type Mention = {
  /** What it may mean, the longest first: punctuation at the end may belong to the sentence. */
  readonly paths: readonly string[];
};

// A path in quotes ends at the next quote: no character is looked at twice.
const MENTION = /(?<=^|[\s([{<"'`])@(?:"((?:[^"\\\n]|\\.)+)"|([^\s"]\S*))/gu;
const OPEN = /(?<=^|[\s([{<"'`])@("(?:[^"\\\n]|\\.)*|[^\s"]*)$/u;
const PUNCTUATION: ReadonlySet<string> = new Set('.,;:!?)]}>\'"`');
/** A path of which nothing is lost or added when it is written without quotes. */
const PLAIN = /^[^\s"\\][^\s"\\]*$/u;
/** More than a path has. */
const MAX_TYPED = 4096;

/** What may be a name, in the order of the text. */
export function findMentions(text: string): readonly Mention[] {
  return [...text.matchAll(MENTION)].map(([, quoted, word = '']) => {
    if (quoted !== undefined) return { paths: [unquoted(quoted)] };
    const shorter = withoutPunctuation(word);
    return { paths: shorter === word || shorter === '' ? [word] : [word, shorter] };
  });
}

/** The name that is being typed up to the caret, and where its `@` is; null if there is none. */
export function mentionAt(
  text: string,
  caret: number,
): { readonly from: number; readonly query: string } | null {
  const start = Math.max(0, caret - MAX_TYPED);
  const found = OPEN.exec(text.slice(start, caret));
  if (found === null) return null;
  const [, typed = ''] = found;
  const query = typed.startsWith('"') ? unquoted(typed.slice(1)) : typed;
  return { from: start + found.index, query };
}

/** A path as it is typed. */
export function mentionOf(path: string): string {
  const quoted = quotedName(path);
  const isPlain = PLAIN.test(path) && withoutPunctuation(path) === path && quoted === `"${path}"`;
  return `@${isPlain ? path : quoted}`;
}

/** What is between the quotes; where it is no JSON, such as in one that is still typed, a backslash is left out. */
function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(`"${quoted}"`));
  } catch {
    return quoted.replaceAll(/\\(.)/gu, '$1');
  }
}

function withoutPunctuation(word: string): string {
  let end = word.length;
  while (end > 0 && PUNCTUATION.has(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

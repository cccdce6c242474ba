/**
 * Applies `.gitignore` files like git.
 *
 * N1. A file that exceeds the limits is ignored as a whole: half of it would hide other files than all of it.
 * N2. The cost of matching is limited for all files of a listing together.
 */
import { matchesGlob, parseGlob } from './glob.ts';
import type { Budget, Glob } from './glob.ts';

export const MAX_IGNORE_BYTES: number = 256 * 1024;
const MAX_LINES = 10_000;
/** The maximum length of a path. */
const MAX_LINE_BYTES = 4096;

type Rule = {
  readonly isNegated: boolean;
  readonly onlyFolders: boolean;
  /** Matches the name alone, at any depth. */
  readonly isName: boolean;
  /** The bytes before the first special character. */
  readonly literal: string;
  /** The pattern after the literal, or null. */
  readonly rest: { readonly glob: Glob } | null;
};

/** In the order of evaluation: the last matching rule of the file decides, so it comes first. */
export type IgnoreRules = readonly Rule[];

export type ReadRules =
  | { readonly kind: 'rules'; readonly rules: IgnoreRules }
  | { readonly kind: 'refused'; readonly reason: string };

/** `text`: the bytes as `latin1`. */
export function readIgnoreRules(text: string): ReadRules {
  const lines = (text.startsWith('\u00ef\u00bb\u00bf') ? text.slice(3) : text).split('\n');
  if (lines.length > MAX_LINES) return refused(`it has more than ${MAX_LINES} lines`);
  if (lines.some((line) => line.length > MAX_LINE_BYTES)) {
    return refused(`it has a line of more than ${MAX_LINE_BYTES} bytes`);
  }
  const rules = lines.flatMap((line) => ruleOf(line.endsWith('\r') ? line.slice(0, -1) : line));
  return { kind: 'rules', rules: rules.toReversed() };
}

function refused(reason: string): ReadRules {
  return { kind: 'refused', reason };
}

function ruleOf(line: string): readonly Rule[] {
  if (line === '' || line.startsWith('#')) return [];
  // For git, a NUL ends the line.
  const trimmed = withoutFinalBlanks(line.replace(/\0.*$/su, ''));
  const isNegated = trimmed.startsWith('!');
  const named = isNegated ? trimmed.slice(1) : trimmed;
  const onlyFolders = named.endsWith('/');
  const pattern = onlyFolders ? named.slice(0, -1) : named;
  const isName = !pattern.includes('/');
  const anchored = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  if (anchored === '') return [];
  const special = anchored.search(/[*?[\\]/u);
  const literal = special === -1 ? anchored : anchored.slice(0, special);
  // For a path, only the part after the literal is a pattern, so its stars may start there.
  const rest =
    special === -1
      ? null
      : { glob: parseGlob(isName ? anchored : anchored.slice(special), !isName) };
  return [{ isNegated, onlyFolders, isName, literal, rest }];
}

/** Trailing spaces do not count, unless escaped by a backslash. */
function withoutFinalBlanks(line: string): string {
  let end = 0;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '\\') {
      at += 1;
      // A final backslash keeps the whole line.
      if (at === line.length) return line;
      end = at + 1;
    } else if (line[at] !== ' ') {
      end = at + 1;
    }
  }
  return line.slice(0, end);
}

export type IgnoredPath = {
  /** Relative to the folder of the ignore file, as `latin1`. */
  readonly path: string;
  readonly isFolder: boolean;
};

/** The verdict of these rules; null if none matches. */
export function judgePath(
  rules: IgnoreRules,
  { path, isFolder }: IgnoredPath,
  budget: Budget,
): 'ignored' | 'kept' | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  for (const rule of rules) {
    budget.left -= 1;
    if (budget.left < 0) return null;
    if (rule.onlyFolders && !isFolder) continue;
    if (!ruleMatches(rule, rule.isName ? name : path, budget)) continue;
    return rule.isNegated ? 'kept' : 'ignored';
  }
  return null;
}

function ruleMatches({ isName, literal, rest }: Rule, text: string, budget: Budget): boolean {
  if (rest === null) return text === literal;
  if (!text.startsWith(literal)) return false;
  return matchesGlob(rest.glob, isName ? text : text.slice(literal.length), budget);
}

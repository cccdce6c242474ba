/**
 * `.gitignore` files as git reads them.
 *
 * N1. A file beyond its bounds is not used at all: half of one would hide other files than the whole.
 * N2. What matching costs is bounded for all files of one listing together.
 */
import { matchesGlob, parseGlob } from './glob.ts';
import type { Budget, Glob } from './glob.ts';

export const MAX_IGNORE_BYTES: number = 256 * 1024;
const MAX_LINES = 10_000;
/** As long as a path can be. */
const MAX_LINE_BYTES = 4096;

type Rule = {
  readonly isNegated: boolean;
  readonly onlyFolders: boolean;
  /** Of the name alone, wherever it stands. */
  readonly isName: boolean;
  /** The bytes before the first special one. */
  readonly literal: string;
  /** Of what follows the literal; null where nothing does. */
  readonly rest: { readonly glob: Glob } | null;
};

/** The last rule that matches decides, so they stand in the order in which they are asked. */
export type IgnoreRules = readonly Rule[];

export type ReadRules =
  | { readonly kind: 'rules'; readonly rules: IgnoreRules }
  | { readonly kind: 'refused'; readonly reason: string };

/** `text`: its bytes, as `latin1`. */
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
  // To git, a line ends with its first NUL.
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
  // Of a path, only what follows the literal is a pattern: its stars may begin there.
  const rest =
    special === -1
      ? null
      : { glob: parseGlob(isName ? anchored : anchored.slice(special), !isName) };
  return [{ isNegated, onlyFolders, isName, literal, rest }];
}

/** Blanks at the end do not count, but for one behind a backslash. */
function withoutFinalBlanks(line: string): string {
  let end = 0;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '\\') {
      at += 1;
      // A backslash at the very end keeps all of the line.
      if (at === line.length) return line;
      end = at + 1;
    } else if (line[at] !== ' ') {
      end = at + 1;
    }
  }
  return line.slice(0, end);
}

export type IgnoredPath = {
  /** Below the folder of the ignore file, as `latin1`. */
  readonly path: string;
  readonly isFolder: boolean;
};

/** What these rules say of a path; null: nothing. */
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

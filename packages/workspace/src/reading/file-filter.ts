/**
 * The globs of a listing or a search, in the syntax of ignore files plus `{a,b}`, matched in linear time.
 *
 * A glob without a slash matches names at any depth, one with a slash paths. A glob that begins with `!` leaves out
 * what it matches, and the last glob that matches decides.
 */
import { OrionError } from '@orion/contracts';
import type { Budget } from './glob.ts';
import { judgePath, readIgnoreRules } from './ignore-rules.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { bytesOf } from './walk-files.ts';

const MAX_GLOBS = 20;
const MAX_GLOB_LENGTH = 500;
const MAX_ALTERNATIVES = 200;
/** About half a second of matching. */
const MATCHING_BUDGET = 50_000_000;

/** Whether a path, relative to the folder of the globs, is wanted. Throws if the globs take too long. */
export type FileFilter = (path: string) => boolean;

export function fileFilter(globs: readonly string[]): FileFilter {
  if (globs.length === 0) return () => true;
  if (globs.length > MAX_GLOBS) throw invalidGlobs(`There are more than ${MAX_GLOBS} globs.`);
  const rules = rulesOf(globs);
  const takesAll = globs.every((glob) => glob.startsWith('!'));
  const budget: Budget = { left: MATCHING_BUDGET };
  const judge = (path: string, isFolder: boolean) =>
    judgePath(rules, { path: bytesOf(path), isFolder }, budget);
  const folders = new Map<string, boolean>();

  /** A folder that is left out takes what is below it along, so that `!dist` does what it says. */
  function isLeftOut(folder: string): boolean {
    if (folder === '') return false;
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const leftOut = isLeftOut(parentOf(folder)) || judge(folder, true) === 'kept';
    folders.set(folder, leftOut);
    return leftOut;
  }

  return (path) => {
    const verdict = isLeftOut(parentOf(path)) ? 'kept' : judge(path, false);
    if (budget.left < 0) throw invalidGlobs('The globs take too long to match.');
    return verdict === null ? takesAll : verdict === 'ignored';
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Rules of an ignore file: what they would ignore is wanted. */
function rulesOf(globs: readonly string[]): IgnoreRules {
  const read = readIgnoreRules(bytesOf(globs.flatMap(alternativesOf).map(lineOf).join('\n')));
  if (read.kind === 'refused') throw invalidGlobs(`The globs cannot be used: ${read.reason}.`);
  return read.rules;
}

function lineOf(glob: string): string {
  const sign = glob.startsWith('!') ? '!' : '';
  const named = glob.slice(sign.length).replace(/^\.\//u, '/');
  if (named.endsWith('/')) return `${sign}${named}**`;
  return named.startsWith('#') ? `${sign}\\${named}` : `${sign}${named}`;
}

/** Without braces: `*.{ts,js}` becomes `*.ts` and `*.js`. */
function alternativesOf(glob: string): readonly string[] {
  if (glob.length > MAX_GLOB_LENGTH) {
    throw invalidGlobs(`A glob is longer than ${MAX_GLOB_LENGTH} characters.`);
  }
  if (glob.trim() === '' || glob === '!') throw invalidGlobs('A glob is empty.');
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/u.test(glob)) throw invalidGlobs('A glob has a control character.');
  let open: readonly string[] = [glob];
  for (;;) {
    const next = open.flatMap(withoutOneBrace);
    if (next.length > MAX_ALTERNATIVES) {
      throw invalidGlobs(`A glob stands for more than ${MAX_ALTERNATIVES} others.`);
    }
    if (next.length === open.length) return next;
    open = next;
  }
}

const INNERMOST_BRACE = /\{([^{},]*,[^{}]*)\}/u;

function withoutOneBrace(glob: string): readonly string[] {
  const brace = INNERMOST_BRACE.exec(glob);
  if (brace === null) return [glob];
  const [whole, inside = ''] = brace;
  const before = glob.slice(0, brace.index);
  const after = glob.slice(brace.index + whole.length);
  return inside.split(',').map((each) => before + each + after);
}

function invalidGlobs(message: string): OrionError {
  return new OrionError({
    code: 'INVALID_TOOL_ARGUMENTS',
    message,
    hint: 'Use fewer or simpler globs, such as "*.ts" or "src/**/*.{ts,tsx}".',
  });
}

/**
 * Paths inside the workspace that need confirmation: files that make other programs run something, contain secrets, or
 * configure agents. Pure.
 */
import { PROTECTED_NAMES } from './protected-names.ts';
import type { ProtectedName } from './protected-names.ts';

export type Protection =
  | { readonly kind: 'free' }
  /** Refused unless allowed by a glob. */
  | { readonly kind: 'ask'; readonly rule: string; readonly reason: string }
  /** Like `ask`, but only if a person can be asked. */
  | { readonly kind: 'ask_when_interactive'; readonly rule: string; readonly reason: string }
  /** Orion's own state, which no setting allows. */
  | { readonly kind: 'never'; readonly rule: string };

const STATE_NAME = '.orion';

const FOLDER = '/**';
const always = PROTECTED_NAMES.filter((entry) => entry.onlyInteractive !== true);

function byName(entries: readonly ProtectedName[]): ReadonlyMap<string, ProtectedName> {
  return new Map(
    entries.map((entry) => [
      entry.rule.endsWith(FOLDER) ? entry.rule.slice(0, -FOLDER.length) : entry.rule,
      entry,
    ]),
  );
}

/**
 * By one component or two in a row. A folder with the name of a protected file is protected, too: a file may be meant
 * to replace it.
 */
const NAMES = byName(always.filter(({ rule }) => rule.endsWith(FOLDER) || !rule.endsWith('*')));
const PREFIXES = always.filter(({ rule }) => !rule.endsWith(FOLDER) && rule.endsWith('*'));
const MANIFESTS = byName(PROTECTED_NAMES.filter((entry) => entry.onlyInteractive === true));

/** The 8.3 names of `.git` and the state directory on Windows file systems. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['git~1', '.git'],
  ['orion~1', STATE_NAME],
]);

/**
 * A name as compared by the most lenient file system: `.GIT`, `.g\u200cit` and `.git.` all mean `.git` somewhere.
 * Converts to upper case, which maps `ß` to `SS` and `ſ` to `S`, and to lower case before that, which maps `ẞ` to `ß`.
 * Compatibility forms such as `ﬁ` are decomposed.
 */
export function foldName(name: string): string {
  const folded = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/:.*$/u, '')
    .replace(/[. ]+$/u, '');
  return SHORT_NAMES.get(folded) ?? folded;
}

/** Judges a path inside the workspace by its names. */
export function protectionOf(components: readonly string[]): Protection {
  const names = components.map(foldName);
  if (names.includes(STATE_NAME)) return { kind: 'never', rule: `${STATE_NAME}/**` };
  for (const [index, name] of names.entries()) {
    const entry =
      NAMES.get(name) ??
      NAMES.get(`${name}/${names[index + 1] ?? ''}`) ??
      PREFIXES.find(({ rule }) => name.startsWith(rule.slice(0, -1)));
    if (entry !== undefined) return { kind: 'ask', rule: entry.rule, reason: entry.reason };
  }
  const manifest = MANIFESTS.get(names.at(-1) ?? '');
  return manifest === undefined
    ? { kind: 'free' }
    : { kind: 'ask_when_interactive', rule: manifest.rule, reason: manifest.reason };
}

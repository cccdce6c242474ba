/**
 * Which paths need an explicit yes, although they lie inside the workspace: files that make other
 * programs run something, hold secrets, or configure agents. Pure.
 */
import { PROTECTED_NAMES } from './protected-names.ts';
import type { ProtectedName } from './protected-names.ts';

export type Protection =
  | { readonly kind: 'free' }
  /** Refused unless an allow glob names it. */
  | { readonly kind: 'ask'; readonly rule: string; readonly reason: string }
  /** As `ask`, but only where a person can be asked. */
  | { readonly kind: 'ask_when_interactive'; readonly rule: string; readonly reason: string }
  /** Orion's own state: no setting allows it. */
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

/** Of one component or of two in a row. A folder of a file's name is protected too: a file can be meant to replace it. */
const NAMES = byName(always.filter(({ rule }) => rule.endsWith(FOLDER) || !rule.endsWith('*')));
const PREFIXES = always.filter(({ rule }) => !rule.endsWith(FOLDER) && rule.endsWith('*'));
const MANIFESTS = byName(PROTECTED_NAMES.filter((entry) => entry.onlyInteractive === true));

/** The 8.3 names under which Windows file systems also know `.git` and the state directory. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['git~1', '.git'],
  ['orion~1', STATE_NAME],
]);

/**
 * A name as the most forgiving file system compares it: `.GIT`, `.g\u200cit` and `.git.` are all `.git` somewhere.
 * By way of upper case, since only there `ß` is `SS` and `ſ` is `S`, and of lower case before it, where `ẞ` is `ß`;
 * compatibility forms such as `ﬁ` fall apart.
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

/** Judges a path inside the workspace by the names it is made of. */
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

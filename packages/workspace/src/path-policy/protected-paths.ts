/**
 * Which paths need an explicit yes, although they lie inside the workspace: files that make other
 * programs run something, hold secrets, or configure agents. Pure.
 */

export type Protection =
  | { readonly kind: 'free' }
  /** Refused unless an allow glob names it. */
  | { readonly kind: 'ask'; readonly rule: string }
  /** As `ask`, but only where a person can be asked. */
  | { readonly kind: 'ask_when_interactive'; readonly rule: string }
  /** Orion's own state: no setting allows it. */
  | { readonly kind: 'never'; readonly rule: string };

const STATE_NAME = '.orion';

/** Everything at or below a component of this name. */
const DIRECTORIES: ReadonlySet<string> = new Set([
  '.git',
  '.github',
  '.gitlab',
  '.gitea',
  '.forgejo',
  '.circleci',
  '.buildkite',
  '.woodpecker',
  '.ci',
  '.vscode',
  '.idea',
  '.claude',
  '.cursor',
  '.codex',
  '.gemini',
  '.ssh',
]);

/** As above, for two components in a row. */
const DIRECTORY_PAIRS: ReadonlySet<string> = new Set(['.config/fish', '.config/orion']);

const FILES: ReadonlySet<string> = new Set([
  '.gitattributes',
  '.gitconfig',
  '.gitmodules',
  '.mcp.json',
  'orion.config.json',
  'claude.md',
  '.npmrc',
  '.envrc',
  '.bashrc',
  '.bash_profile',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.gitlab-ci.yml',
  '.travis.yml',
  '.drone.yml',
  '.woodpecker.yml',
  'appveyor.yml',
  '.appveyor.yml',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  'jenkinsfile',
]);

const FILE_PREFIXES: readonly string[] = ['.env', '.aider'];

const MANIFESTS: ReadonlySet<string> = new Set([
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'cargo.lock',
  'composer.lock',
  'flake.lock',
  'gemfile.lock',
  'go.sum',
  'gradle.lockfile',
  'mix.lock',
  'packages.lock.json',
  'pdm.lock',
  'pipfile.lock',
  'podfile.lock',
  'poetry.lock',
  'pubspec.lock',
  'uv.lock',
]);

/** The 8.3 names under which Windows file systems also know `.git` and the state directory. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['git~1', '.git'],
  ['orion~1', STATE_NAME],
]);

/** Code points that macOS file systems leave out when they compare names. */
const IGNORED_IN_NAMES = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]/gu;

/**
 * A name as the most forgiving file system compares it: `.GIT`, `.g\u200cit` and `.git.` are all
 * `.git` somewhere.
 */
export function foldName(name: string): string {
  const folded = name
    .normalize('NFC')
    .replace(IGNORED_IN_NAMES, '')
    .toLowerCase()
    // Sharp s, dotless i and long s are the letters that lower case alone does not unite.
    .replace(/\u017f/gu, 's')
    .replace(/\u0131/gu, 'i')
    .replace(/\u212a/gu, 'k')
    .normalize('NFC')
    .replace(/:.*$/u, '')
    .replace(/[. ]+$/u, '');
  return SHORT_NAMES.get(folded) ?? folded;
}

/** Judges a path inside the workspace by the names it is made of. */
export function protectionOf(components: readonly string[]): Protection {
  const names = components.map(foldName);
  if (names.includes(STATE_NAME)) return { kind: 'never', rule: `${STATE_NAME}/**` };
  for (const [index, name] of names.entries()) {
    if (DIRECTORIES.has(name)) return { kind: 'ask', rule: `${name}/**` };
    const pair = `${name}/${names[index + 1] ?? ''}`;
    if (DIRECTORY_PAIRS.has(pair)) return { kind: 'ask', rule: `${pair}/**` };
    // A directory of such a name is protected too: a file can be meant to replace it.
    if (FILES.has(name)) return { kind: 'ask', rule: name };
    const prefix = FILE_PREFIXES.find((start) => name.startsWith(start));
    if (prefix !== undefined) return { kind: 'ask', rule: `${prefix}*` };
  }
  const last = names.at(-1) ?? '';
  if (MANIFESTS.has(last)) return { kind: 'ask_when_interactive', rule: last };
  return { kind: 'free' };
}

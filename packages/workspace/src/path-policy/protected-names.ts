/**
 * The names that need an explicit yes, although they lie inside the workspace, and why. A rule is a folder with
 * everything below it (`name/**`, of one name or two), a file (`name`), or every name that begins so (`name*`).
 */
export type ProtectedName = {
  readonly rule: string;
  /** Completes "because …". */
  readonly reason: string;
  /** Projects change it every day: protected only where a person can be asked. */
  readonly onlyInteractive?: true;
};

function named(reason: string, ...rules: readonly string[]): readonly ProtectedName[] {
  return rules.map((rule) => ({ rule, reason }));
}

export const PROTECTED_NAMES: readonly ProtectedName[] = [
  ...named('git runs its hooks and obeys its configuration', '.git/**', '.config/git/**'),
  ...named(
    'git obeys it, and may run what it names',
    '.gitattributes',
    '.gitconfig',
    '.gitmodules',
  ),
  ...named('git runs what is in it when something is committed', '.husky/**', '.githooks/**'),
  ...named('Mercurial runs its hooks', '.hg/**', '.hgrc'),

  ...named(
    'a build server runs it',
    '.github/**',
    '.gitlab/**',
    '.gitea/**',
    '.forgejo/**',
    '.circleci/**',
    '.buildkite/**',
    '.woodpecker/**',
    '.ci/**',
    '.gitlab-ci.yml',
    '.travis.yml',
    '.drone.yml',
    '.woodpecker.yml',
    'appveyor.yml',
    '.appveyor.yml',
    'azure-pipelines.yml',
    'bitbucket-pipelines.yml',
    'jenkinsfile',
  ),

  ...named(
    'an editor obeys it when the folder is opened, and may run what it names',
    '.vscode/**',
    '.idea/**',
    '.zed/**',
    '.fleet/**',
    '.devcontainer/**',
    '.devcontainer.json',
    '.dir-locals.el',
  ),
  ...named(
    'an editor runs it when it starts',
    '.vimrc',
    '.gvimrc',
    '.nvimrc',
    '.nvim.lua',
    '.exrc',
    '.ideavimrc',
    '.emacs',
    '.config/nvim/**',
    '.config/zed/**',
  ),

  ...named(
    'it instructs or configures an agent',
    '.claude/**',
    'claude.md',
    '.codex/**',
    '.gemini/**',
    'gemini.md',
    '.cursor/**',
    '.cursorrules',
    '.windsurf/**',
    '.windsurfrules',
    '.opencode/**',
    '.config/opencode/**',
    '.clinerules',
    '.roo/**',
    '.kiro/**',
    '.aider*',
    '.mcp.json',
  ),
  ...named('it configures Orion itself', 'orion.config.json', '.config/orion/**'),

  ...named(
    'a shell runs it when it starts or ends',
    '.profile',
    '.bashrc',
    '.bash_profile',
    '.bash_login',
    '.bash_logout',
    '.bash_aliases',
    '.zshrc',
    '.zshenv',
    '.zprofile',
    '.zlogin',
    '.zlogout',
    '.kshrc',
    '.cshrc',
    '.tcshrc',
    '.login',
    '.logout',
    '.config/fish/**',
  ),
  ...named('a shell runs it when its folder is entered', '.envrc'),
  ...named('a program runs it when it starts', '.gdbinit', '.lldbinit', '.tmux.conf', '.screenrc'),

  ...named(
    'a package manager obeys it, and may run what it names',
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    '.pnpmfile.mjs',
  ),
  ...named('it holds secrets', '.env*', '.netrc', '.pypirc', '.aws/**', '.kube/**', '.gnupg/**'),
  ...named('it holds keys, and decides who may log in', '.ssh/**'),

  ...named(
    'it decides which programs of others are installed and run',
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
  ).map((entry): ProtectedName => ({ ...entry, onlyInteractive: true })),
];

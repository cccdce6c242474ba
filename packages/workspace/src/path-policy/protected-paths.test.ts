import { describe, expect, it } from 'vitest';
import { PROTECTED_NAMES } from './protected-names.ts';
import { foldName, protectionOf } from './protected-paths.ts';

const ruleOf = (path: string): string | null => {
  const protection = protectionOf(path.split('/'));
  return protection.kind === 'free' ? null : protection.rule;
};
const kindOf = (path: string): string => protectionOf(path.split('/')).kind;

describe('protected paths (R255)', () => {
  it.each([
    '.git',
    '.git/config',
    '.git/hooks/pre-commit',
    'vendor/nested/.git/config',
    '.GIT/config',
    '.Git./config',
    '.git /config',
    '.g\u200cit/config',
    'GIT~1/config',
    '.git:stream',
    '.gitattributes',
    '.gitmodules',
    '.gitconfig',
    '.github/workflows/ci.yml',
    '.vscode/settings.json',
    '.VSCode/tasks.json',
    '.idea/workspace.xml',
    '.claude/settings.json',
    '.cursor/rules',
    '.codex/config.toml',
    '.gemini/settings.json',
    '.mcp.json',
    'sub/.mcp.json',
    '.aider.conf.yml',
    'orion.config.json',
    'CLAUDE.md',
    'docs/claude.MD',
    '.env',
    '.env.local',
    '.envrc',
    '.npmrc',
    '.ſsh/authorized_keys',
    '.ssh/config',
    '.bashrc',
    '.zshenv',
    '.profile',
    '.config/fish/config.fish',
    '.config/orion/trust.json',
    '.gitlab-ci.yml',
    'Jenkinsfile',
    '.circleci/config.yml',
  ])('asks for %s', (path) => {
    expect(kindOf(path)).toBe('ask');
  });

  it.each(['package.json', 'web/Package.JSON', 'pnpm-lock.yaml', 'Cargo.lock', 'go.sum'])(
    'asks for %s only where a person can answer',
    (path) => {
      expect(kindOf(path)).toBe('ask_when_interactive');
    },
  );

  it.each(['.orion', '.orion/x', '.ORION/logs/a', 'sub/.orion/x', 'Orion~1/x', '.or\u200dion/x'])(
    'never allows %s',
    (path) => {
      expect(kindOf(path)).toBe('never');
    },
  );

  it.each([
    ['.bash_login', '.bash_login'],
    ['home/.zlogin', '.zlogin'],
    ['.vimrc', '.vimrc'],
    ['.zed/settings.json', '.zed/**'],
    ['.devcontainer/devcontainer.json', '.devcontainer/**'],
    ['.husky/pre-commit', '.husky/**'],
    ['.windsurf/rules/x.md', '.windsurf/**'],
    ['.opencode/agent/x.md', '.opencode/**'],
    ['.cursorrules', '.cursorrules'],
    ['.yarnrc.yml', '.yarnrc.yml'],
    ['.ßh/authorized_keys', '.ssh/**'],
    ['.ẞh/authorized_keys', '.ssh/**'],
    ['orion.conﬁg.json', 'orion.config.json'],
    ['.ｇｉｔ/config', '.git/**'],
    ['．git/config', '.git/**'],
    ['.𝐠𝐢𝐭/config', '.git/**'],
    ['.g\u00adit/config', '.git/**'],
    ['.g\u180bit/config', '.git/**'],
    ['.g\u{e0100}it/config', '.git/**'],
    ['.gıt/config', '.git/**'],
    ['.HUSKY/pre-commit', '.husky/**'],
    ['.CoNﬁG/ﬁsh/x.fish', '.config/fish/**'],
    ['.Env\u200b.local', '.env*'],
    ['.Rprofile', '.rprofile'],
    ['.irbrc', '.irbrc'],
    ['.pryrc', '.pryrc'],
    ['.pdbrc', '.pdbrc'],
    ['.xprofile', '.xprofile'],
    ['.xinitrc', '.xinitrc'],
    ['.config/autostart/x.desktop', '.config/autostart/**'],
    ['Library/LaunchAgents/x.plist', 'library/launchagents/**'],
    ['.jj/repo/config.toml', '.jj/**'],
    ['.vim/plugin/x.vim', '.vim/**'],
    ['.lvimrc', '.lvimrc'],
    ['.emacs.d/init.el', '.emacs.d/**'],
    ['.helix/languages.toml', '.helix/**'],
    ['crate/.cargo/config.toml', '.cargo/**'],
    ['.cargo/config', '.cargo/**'],
    ['.yarn/releases/yarn.cjs', '.yarn/**'],
    ['.mvn/extensions.xml', '.mvn/**'],
    ['lefthook.yml', 'lefthook.yml'],
    ['.lefthook-local.toml', '.lefthook-local.toml'],
    ['.lefthook/pre-commit/x.sh', '.lefthook/**'],
    ['.pre-commit-config.yaml', '.pre-commit-config.yaml'],
    ['.mise.toml', '.mise.toml'],
  ])('asks for %s (B5)', (path, rule) => {
    expect(kindOf(path)).toBe('ask');
    expect(ruleOf(path)).toBe(rule);
  });

  it.each(PROTECTED_NAMES)(
    '$rule has a reason, and protects what it names',
    ({ rule, reason, onlyInteractive }) => {
      expect(reason).toMatch(/^\S.*[^.\s]$/u);
      const path = rule.replace(/\/\*\*$/u, '/below/x').replace(/\*$/u, '.x');
      expect(protectionOf(`sub/${path.toUpperCase()}`.split('/'))).toEqual({
        kind: onlyInteractive === true ? 'ask_when_interactive' : 'ask',
        rule,
        reason,
      });
      expect(kindOf(`x${path}`)).not.toBe('never');
    },
  );

  it.each([
    'AGENTS.md',
    'husky.md',
    'husky/index.ts',
    'HEAD.md',
    'refs/heads.md',
    'zed/x',
    'vimrc.md',
    '.vimrc.md',
    '.huskyish/x',
    'straße.md',
    'conﬁg.json',
    'src/main.ts',
    '.gitignore',
    '.config/other/x',
    'git/config',
    'environment.ts',
    'docs/package.json.md',
    '.editorconfig',
    '.tool-versions',
    '.eslintrc.js',
    '.prettierrc',
    'Makefile',
    'justfile',
    'conftest.py',
    'lefthook/index.ts',
    'lefthook.md',
    'cargo/config.toml',
    'vim/x.vim',
    'mise.md',
    'Cargo.toml',
    'Library/x.md',
  ])('lets %s be', (path) => {
    expect(kindOf(path)).toBe('free');
  });
});

it('B5: a name and its other cases are one name, in every script', { timeout: 60_000 }, () => {
  const wrong: string[] = [];
  for (let code = 0x21; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    if (!/^[\p{L}\p{M}\p{N}]$/u.test(character)) continue;
    const names = [character, character.toUpperCase(), character.toLowerCase()];
    // With a letter behind it: the last letter of a word can have a form of its own.
    if (new Set(names.map((name) => foldName(`a${name}a`))).size > 1) wrong.push(character);
  }
  expect(wrong).toEqual([]);
});

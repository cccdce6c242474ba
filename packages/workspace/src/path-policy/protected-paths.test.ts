import { describe, expect, it } from 'vitest';
import { protectionOf } from './protected-paths.ts';

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
    'AGENTS.md',
    'src/main.ts',
    '.gitignore',
    '.config/other/x',
    'git/config',
    'environment.ts',
    'docs/package.json.md',
    '.editorconfig',
  ])('lets %s be', (path) => {
    expect(kindOf(path)).toBe('free');
  });
});

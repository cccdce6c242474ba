/** Hazard: what keeps hostile ignore files off hides, shows or refuses something in an honest repository. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HONEST_REPOSITORIES } from '../testing/honest-repositories.ts';
import type { HonestRepository } from '../testing/honest-repositories.ts';
import { openTestWorkspace } from '../testing/temp-workspace.ts';

const hasGit = spawnSync('git', ['--version']).status === 0;

function make(root: string, { ignore, shown, hidden }: HonestRepository): void {
  const empty = [...shown, ...hidden].map((path) => [path, ''] as const);
  for (const [path, text] of [...Object.entries(ignore), ...empty]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

const git = (root: string, ...args: readonly string[]): readonly string[] =>
  execFileSync('git', args, {
    cwd: root,
    stdio: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: root, LC_ALL: 'C' },
  })
    .toString()
    .split('\0')
    .filter((line) => line !== '');

const AGENTS = '# How we work\n\nRun `make test`. Names are in Ünïcode. 👩‍👩‍👧\n';

describe.each(HONEST_REPOSITORIES.map((each) => [each.kind, each] as const))('%s', (_, each) => {
  it('is listed as a person sees it, and nothing in it is refused (issue 12, honest use)', async () => {
    const { root, workspace } = await openTestWorkspace();
    make(root, each);
    writeFileSync(join(root, 'AGENTS.md'), AGENTS);
    const listed = await workspace.listFiles(1_000);
    expect(listed.refused).toEqual([]);
    expect(listed.truncated).toBe(false);
    expect(listed.files).toEqual(
      [...Object.keys(each.ignore), ...each.shown, 'AGENTS.md'].toSorted(),
    );
    expect(await workspace.readInstructions(32_768)).toEqual({
      instructions: { name: 'AGENTS.md', content: AGENTS, truncated: false },
      refused: [],
    });
  });

  it.skipIf(!hasGit)('is the same to git (needs git)', async () => {
    const { root, workspace } = await openTestWorkspace();
    make(root, each);
    git(root, 'init', '--quiet');
    const others = git(root, 'ls-files', '-z', '--others', '--exclude-standard');
    expect([...(await workspace.listFiles(1_000)).files].toSorted()).toEqual(others.toSorted());
  });
});

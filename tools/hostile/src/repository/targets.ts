import { link, symlink } from 'node:fs/promises';
import { join } from 'node:path';

import type { AttackOf } from '../attack.ts';
import { beginsEach, writing } from '../provider.ts';
import { makePipe } from '../site.ts';

/** Files that must not be written, and targets that are not what they seem. */
export const TARGETS: readonly AttackOf[] = [
  {
    name: 'a gitdir file that leads into the workspace',
    plant: async (site) => {
      await site.plant('workspace/.git', 'gitdir: ./data\n');
      for (const name of ['HEAD', 'objects/x', 'refs/x'])
        await site.plant(`workspace/data/${name}`, 'x');
    },
    provider: beginsEach(['data/config', 'data/hooks/pre-commit']),
    mayWrite: [],
  },
  {
    name: 'a bare repository in a folder',
    plant: async (site) => {
      for (const name of ['HEAD', 'objects/x', 'refs/x'])
        await site.plant(`workspace/bare/${name}`, 'x');
    },
    provider: beginsEach(['bare/config', 'bare/hooks/post-checkout']),
    mayWrite: [],
  },
  {
    name: 'files that other programs take orders from',
    provider: beginsEach([
      '.zlogin',
      '.zed/tasks.json',
      '.windsurf/mcp.json',
      '.opencode/a',
      '.cursorrules',
    ]),
    mayWrite: [],
  },
  {
    name: 'protected names in other letters',
    provider: beginsEach([
      '.ⓖit/config',
      'orion.conﬁg.json',
      '.GITHUB/workflows/a.yml',
      '.Vscode/tasks.json',
    ]),
    mayWrite: [],
  },
  {
    name: 'a target that is a link to the outside',
    plant: (site) => symlink(join(site.outside, 'secret.txt'), join(site.workspace, 'a.txt')),
    provider: writing('a.txt', { begin_more: { operation: 'overwrite' } }),
    exits: [0, 1, 3, 5],
  },
  {
    name: 'a target that shares its bytes with a file outside',
    plant: (site) => link(join(site.outside, 'secret.txt'), join(site.workspace, 'a.txt')),
    provider: writing('a.txt', { begin_more: { operation: 'overwrite' } }),
    exits: [0, 1, 3, 5],
  },
  {
    name: 'a target that is a pipe',
    plant: (site) => makePipe(join(site.workspace, 'a.txt')),
    provider: writing('a.txt', { begin_more: { operation: 'append' } }),
    mayWrite: [],
  },
];

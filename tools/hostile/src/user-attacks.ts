import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { After, AttackOf } from './attack.ts';
import { playEarlierTurn } from './earlier.ts';
import { goesOn } from './holds.ts';
import type { Site } from './site.ts';

/** Another account on the same machine: `nobody`, whose files only root can make. */
const THEM = 65_534;

async function theirFolder(path: string, mode = 0o777): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
  await chown(path, THEM, THEM);
}

async function theirFile(path: string, content: string, mode = 0o666): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
  await chmod(path, mode);
  await chown(path, THEM, THEM);
}

/** Whether everything of the person's own in the state is theirs alone. */
const isPrivate = async (after: After): Promise<string | null> => {
  const state = join(after.site.workspace, '.orion');
  const open: string[] = [];
  const visit = async (path: string): Promise<void> => {
    const { mode, uid } = await stat(path);
    if (uid !== THEM && (mode & 0o077) !== 0)
      open.push(`${path.slice(state.length)} ${(mode & 0o777).toString(8)}`);
    for (const name of await readdir(path).catch(() => [])) await visit(join(path, name));
  };
  await visit(state);
  return open.length === 0
    ? await goesOn(after)
    : `can be read by others: ${open.slice(0, 3).join(', ')}`;
};

const state = (site: Site, path = ''): string => join(site.workspace, '.orion', path);

export const USER_ATTACKS: readonly AttackOf[] = [
  {
    name: 'compiled code planted in the shared temporary folder',
    plant: async (site) => {
      await chmod(site.temporary, 0o1777);
      await theirFolder(join(site.temporary, 'node-compile-cache'));
    },
    holds: async (after) =>
      (await readdir(join(after.site.temporary, 'node-compile-cache'))).length === 0
        ? await goesOn(after)
        : 'put compiled code where others may write',
  },
  {
    name: 'a cache that leads to a folder of theirs',
    plant: async (site) => {
      await theirFolder(join(site.temporary, 'theirs'));
      await mkdir(join(site.home, '.cache', 'orion'), { recursive: true });
      await symlink(join(site.temporary, 'theirs'), join(site.home, '.cache', 'orion', 'compile'));
    },
    holds: async (after) =>
      (await readdir(join(after.site.temporary, 'theirs'))).length === 0
        ? await goesOn(after)
        : 'put compiled code where others may write',
  },
  {
    name: 'a cache folder of theirs in the home',
    plant: (site) => theirFolder(join(site.home, '.cache', 'orion', 'compile')),
    holds: async (after) =>
      (await readdir(join(after.site.home, '.cache', 'orion', 'compile'))).length === 0
        ? await goesOn(after)
        : 'put compiled code where others may write',
  },
  {
    name: 'a state folder of theirs',
    plant: (site) => theirFolder(state(site)),
    exits: [0, 1, 2, 3],
  },
  {
    name: 'a store of theirs',
    plant: async (site) => {
      await mkdir(state(site), { mode: 0o700 });
      await theirFile(state(site, 'orion.db'), '');
    },
    holds: goesOn,
  },
  {
    name: 'a state of ours that others may read and write',
    plant: async (site) => {
      await mkdir(state(site, 'logs'), { recursive: true });
      await chmod(state(site), 0o777);
      await chmod(state(site, 'logs'), 0o777);
    },
    holds: isPrivate,
  },
  {
    name: 'a store of ours that others may read and write',
    plant: async (site) => {
      await playEarlierTurn(site);
      await chmod(state(site), 0o777);
      for (const name of await readdir(state(site))) {
        const { mode } = await stat(state(site, name));
        await chmod(state(site, name), mode | 0o066);
      }
    },
    holds: isPrivate,
  },
  {
    name: 'a configuration of theirs in the home',
    plant: (site) =>
      theirFile(
        join(site.home, '.config', 'orion', 'config.json'),
        '{"baseUrl":"http://127.0.0.1:9/v1"}',
      ),
    exits: [0, 2],
  },
  {
    name: 'a session of theirs with a lease of their own',
    plant: async (site) => {
      const id = '7f3a0000-0000-4000-8000-000000000000';
      const folder = state(site, `logs/write_sessions/${id}`);
      await theirFolder(folder);
      await theirFile(
        join(folder, 'metadata.json'),
        JSON.stringify({ version: 1, session_id: id }),
      );
      await theirFile(join(folder, 'content.txt'), 'pwned\n');
    },
    options: ['--recover', 'yes'],
    holds: goesOn,
  },
  {
    name: 'everything that a turn leaves is private',
    holds: isPrivate,
  },
];

/** Null where they can be made. */
export function whyNoUserAttacks(): string | null {
  if (process.platform === 'win32') return 'there are no such users';
  return process.getuid?.() === 0 ? null : 'needs root, to make files of another user';
}

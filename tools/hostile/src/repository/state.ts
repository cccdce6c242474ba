import { createHash } from 'node:crypto';
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { AttackOf } from '../attack.ts';
import { goesOn, goesOnAndNames } from '../holds.ts';
import { makePipe } from '../site.ts';
import type { Site } from '../site.ts';

/** How the lock of a file is called. */
function lockOf(site: Site, path: string): string {
  return createHash('sha256').update(join(site.workspace, path)).digest('hex');
}

/** Sessions of another user, each in its own directory. Every second one is damaged, and all are old enough to be put aside by a start. */
async function foreignSessions(site: Site, count: number): Promise<void> {
  const sessions = join(site.workspace, '.orion/logs/write_sessions');
  const old = '2026-01-01T00:00:00.000Z';
  const write = async (index: number): Promise<void> => {
    const id = `7f3a0000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
    const folder = join(sessions, id);
    const damaged = index % 2 === 1;
    await mkdir(folder, { recursive: true });
    const metadata = damaged ? '{"version":1,"session_' : metadataOf(site, id, old);
    const files: Readonly<Record<string, string>> = {
      'metadata.json': metadata,
      'content.txt': 'pwned\n'.repeat(20),
      'pending.txt': 'x',
      'state.json': JSON.stringify({
        version: 1,
        buffer_size: 120,
        line_count: 20,
        last_save: old,
        content_file: 'content.txt',
      }),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await utimes(join(folder, 'content.txt'), new Date(old), new Date(old));
  };
  for (let from = 0; from < count; from += 100)
    await Promise.all(Array.from({ length: 100 }, (_, index) => write(from + index)));
}

/** As this version writes it, but for the proof of whose it is. */
function metadataOf(site: Site, id: string, created: string): string {
  return JSON.stringify({
    version: 1,
    session_id: id,
    intent: 'x',
    target_file: '.bashrc',
    operation: 'create',
    created_at: created,
    end_marker: 'DONE 7f3a',
    final_newline: true,
    target: {
      path: '.bashrc',
      realPath: join(site.workspace, '.bashrc'),
      exists: false,
      sha256: null,
      bytes: 0,
      mode: 0,
      eol: 'none',
      bom: false,
    },
  });
}

/** The state directory as another user left it: links, sessions, journals, locks. */
export const STATE: readonly AttackOf[] = [
  {
    name: 'the state is a link to the outside',
    plant: (site) => symlink(site.outside, join(site.workspace, '.orion')),
    holds: goesOnAndNames('.orion'),
  },
  {
    name: 'the state is a file',
    plant: (site) => site.plant('workspace/.orion', 'x'),
    holds: goesOnAndNames('.orion'),
  },
  {
    name: 'the state is a pipe',
    plant: (site) => makePipe(join(site.workspace, '.orion')),
    holds: goesOnAndNames('.orion'),
  },
  {
    name: 'a folder of the state is a link to the outside',
    plant: async (site) => {
      await mkdir(join(site.workspace, '.orion'));
      for (const name of ['logs', 'locks', 'attic', 'backups', 'texts', 'plans', 'temporaries'])
        await symlink(site.outside, join(site.workspace, `.orion/${name}`));
    },
    exits: [0, 1, 2, 3],
  },
  {
    name: 'a session that somebody else left',
    plant: async (site) => {
      const id = '7f3a0000-0000-4000-8000-000000000000';
      const folder = `workspace/.orion/logs/write_sessions/${id}`;
      await site.plant(`${folder}/content.txt`, 'pwned\n');
      await site.plant(`${folder}/metadata.json`, metadataOf(site, id, '2026-01-01T00:00:00.000Z'));
    },
    options: ['--recover', 'yes'],
    holds: goesOn,
  },
  {
    name: '10,000 sessions that somebody else left, half of them damaged',
    plant: (site) => foreignSessions(site, 10_000),
    options: ['--recover', 'yes'],
    holds: goesOn,
  },
  {
    name: 'a journal of a plan that somebody else left',
    plant: async (site) => {
      await site.plant('workspace/b.txt', 'mine\n');
      await site.plant(
        'workspace/.orion/plans/7f3a0000-0000-4000-8000-000000000000/journal.json',
        JSON.stringify({
          version: 1,
          root: '..',
          files: [{ path: 'b.txt', before: null, after: null, backup: null }],
        }),
      );
    },
    holds: goesOn,
  },
  {
    name: 'locks of a foreign host with a heartbeat in 2099',
    plant: async (site) => {
      const key = lockOf(site, 'a.txt');
      const record = {
        version: 1,
        pid: 1,
        host: 'elsewhere',
        pid_namespace: '',
        process_started_at: 'x',
        token: 'f'.repeat(32),
        heartbeat_at: '2099-01-01T00:00:00.000Z',
        session_id: '7f3a0000-0000-4000-8000-000000000000',
      };
      await site.plant(`workspace/.orion/locks/${key}`, JSON.stringify(record));
    },
    holds: goesOn,
  },
  {
    name: 'a folder in the place of the lock of a file',
    plant: async (site) => {
      await mkdir(join(site.workspace, `.orion/locks/${lockOf(site, 'a.txt')}`), {
        recursive: true,
      });
    },
    mayWrite: [],
    holds: async ({ ended, site }) =>
      ended.stdout.includes(join(site.workspace, `.orion/locks/${lockOf(site, 'a.txt')}`)) &&
      ended.stdout.includes('clean-sessions --all --yes')
        ? null
        : 'did not say what is in the way, or what removes it',
  },
];

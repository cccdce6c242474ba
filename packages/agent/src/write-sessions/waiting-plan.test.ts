import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Workspace } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { openStore } from '@orion/trace-store';
import { createWorkspace } from '@orion/workspace';
import { expect, onTestFinished, test } from 'vitest';

import { sharedStateOf } from '../config/sessions-in-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: over a state directory that hosts share, one of them removes what the plan of another one has prepared. */

const own = useTestDatabase();
const HOUR = 60 * 60 * 1_000;

test('a plan that waits for a person is not swept by a host whose clock is ahead', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-hosts-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'a.txt'), 'old');
  const open = async (host: string, offset: number): Promise<Workspace> => {
    const clock = createFakeClock(Date.now() + offset);
    const store = openStore({ kind: 'postgres', url: own.url() }, { clock });
    const identity = () =>
      Promise.resolve({ pid: process.pid, host, pidNamespace: '', startedAt: 'now' });
    const shared = sharedStateOf(store);
    const workspace = await createWorkspace({ root, clock, identity, shared });
    onTestFinished(async () => {
      await workspace.close();
      await store.close();
    });
    return workspace;
  };
  const one = await open('one', 0);
  const other = await open('other', HOUR / 2);
  async function* source() {
    yield Buffer.from('new');
  }
  const expected = await one.checkTarget('a.txt', 'overwrite');
  const outcomes = await one.commitPlan({
    planId: '8f14e45f-ceea-4670-9e4a-0123456789ab',
    changes: [
      {
        target: 'a.txt',
        operation: 'overwrite',
        parts: [{ kind: 'new', source }],
        eol: 'as-is',
        expected,
      },
    ],
    siblingBackups: true,
    atomic: true,
    approve: async () => {
      await other.sessions.housekeep();
    },
  });
  expect(outcomes).toMatchObject([{ kind: 'done', sibling: 'a.txt.bak' }]);
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('new');
  expect(await readFile(join(root, 'a.txt.bak'), 'utf8')).toBe('old');
  const { files } = await other.undo({});
  expect(files).toMatchObject([{ outcome: 'removed' }, { outcome: 'restored' }]);
  expect(existsSync(join(root, 'a.txt.bak'))).toBe(false);
  expect(await readdir(join(root, '.orion/temporaries'))).toEqual([]);
});

/** What a start does with the locks of others: it takes nothing from whoever lives or may come back. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startProcess } from '../testing/other-process.ts';
import { openTestWorkspace } from '../testing/temp-workspace.ts';

// Processes start slowly on a machine that does much else.
vi.setConfig({ testTimeout: 60_000 });

const locksIn = (root: string): Promise<readonly string[]> => readdir(join(root, '.orion/locks'));

it('the lock of a living process stays', async () => {
  const { root, workspace } = await openTestWorkspace();
  const other = await startProcess({ root });
  await other.send({ do: 'begin', target: 'a.txt' });
  await workspace.sessions.housekeep();
  expect(await locksIn(root)).toHaveLength(1);
  // Not even when its session directory was removed from under it.
  await rm(join(root, '.orion/logs/write_sessions'), { recursive: true });
  await workspace.sessions.housekeep();
  expect(await locksIn(root)).toHaveLength(1);
});

it('the lock of a dead process waits for its session, and goes when there is none', async () => {
  const { root, workspace } = await openTestWorkspace();
  const other = await startProcess({ root });
  const { id } = await other.send({ do: 'begin', target: 'a.txt' });
  await other.kill();
  await workspace.sessions.housekeep();
  expect(await locksIn(root)).toHaveLength(1);
  await rm(join(root, '.orion/logs/write_sessions', String(id)), { recursive: true });
  await workspace.sessions.housekeep();
  expect(await locksIn(root)).toEqual([]);
});

it('of several starts and one that takes the lock, none takes it from another', async () => {
  const { root, workspace, again } = await openTestWorkspace();
  const dead = await startProcess({ root });
  const { id } = await dead.send({ do: 'begin', target: 'a.txt' });
  await dead.kill();
  await rm(join(root, '.orion/logs/write_sessions', String(id)), { recursive: true });
  const next = await startProcess({ root });
  const sweepers = await Promise.all([1, 2, 3].map(() => again()));
  const [begun] = await Promise.all([
    next.send({ do: 'begin', target: 'a.txt' }),
    ...sweepers.map((sweeper) => sweeper.sessions.housekeep()),
  ]);
  await workspace.sessions.housekeep();
  const locks = await locksIn(root);
  const held = locks.filter((name) => /^[0-9a-f]{64}$/u.test(name));
  if (begun['error'] === undefined) {
    expect(held).toHaveLength(1);
  } else {
    // A sweep held it just then.
    expect(begun['error']).toBe('TARGET_LOCKED');
    expect((await next.send({ do: 'begin', target: 'a.txt' }))['error']).toBeUndefined();
  }
});

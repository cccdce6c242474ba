/** Hazard: a host takes a commit of another one for left behind, and removes what it still needs. */
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspace } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';
import { beginSession, commitRequest, openTestWorkspace } from '../testing/temp-workspace.ts';

const HOUR = 60 * 60 * 1_000;

async function openHosts() {
  const identity = (host: string) => async () => ({
    pid: process.pid,
    host,
    pidNamespace: '',
    startedAt: 'now',
  });
  const test = await openTestWorkspace({ identity: identity('one') });
  await writeFile(join(test.root, 'a.txt'), 'old');
  const clock = createFakeClock(test.clock.now());
  const other = await test.again({ identity: identity('other'), clock });
  const pass = async (ms: number): Promise<void> => {
    await test.clock.advance(ms);
    await clock.advance(ms);
  };
  return { ...test, other, pass, otherClock: clock };
}

async function prepared({ workspace }: { readonly workspace: Workspace }) {
  const handle = await beginSession(workspace, 'a.txt', undefined, 'overwrite');
  const expected = await workspace.checkTarget('a.txt', 'overwrite');
  return {
    handle,
    commit: await workspace.prepareCommit(commitRequest('overwrite', expected, 'new')),
  };
}

it('one that waits for a person stays whole, for however long', async () => {
  const test = await openHosts();
  const { handle, commit } = await prepared(test);
  for (let minute = 0; minute < 3; minute += 1) {
    await test.pass(60_000);
    await test.other.sessions.housekeep();
  }
  await commit.apply();
  await handle.remove();
  expect(await readFile(join(test.root, 'a.txt'), 'utf8')).toBe('new');
  expect((await test.other.undo({})).files).toMatchObject([{ outcome: 'restored' }]);
});

it('one whose host is gone leaves nothing', async () => {
  const test = await openHosts();
  await prepared(test);
  test.otherClock.jump(HOUR);
  await test.other.sessions.housekeep();
  expect(readdirSync(test.root).toSorted()).toEqual(['.orion', 'a.txt']);
  expect(readdirSync(join(test.root, '.orion/temporaries'))).toEqual([]);
  expect(readdirSync(join(test.root, '.orion/backups'))).toEqual([]);
  expect(existsSync(join(test.root, 'a.txt'))).toBe(true);
});

/** Hazard: a host takes a commit of another one for left behind, and removes what it still needs. */
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlanCommitOutcome, Workspace } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';
import { createProcessObserver } from '../ownership/process-identity.ts';
import type { ProcessIdentity } from '../ownership/process-identity.ts';
import { PlanJournals } from '../plan/plan-journal.ts';
import { StateDirectory } from '../state-directory.ts';
import {
  beginSession,
  codeOf,
  commitRequest,
  eventually,
  jsonAt,
  openTestWorkspace,
  sha256,
  sourceOf,
  temporaryDirectory,
} from '../testing/temp-workspace.ts';

const HOUR = 60 * 60 * 1_000;

const identityOf = (host: string) => async (): Promise<ProcessIdentity> => ({
  pid: process.pid,
  host,
  pidNamespace: '',
  startedAt: 'now',
});

async function openHosts() {
  const userKeyDirectory = await temporaryDirectory();
  const test = await openTestWorkspace({ userKeyDirectory, identity: identityOf('one') });
  for (const name of ['a.txt', 'b.txt']) await writeFile(join(test.root, name), 'old');
  const clock = createFakeClock(test.clock.now());
  const other = await test.again({ userKeyDirectory, identity: identityOf('other'), clock });
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

const PLAN_ID = '8f14e45f-ceea-4670-9e4a-0123456789ab';

async function planOf(
  { workspace }: { readonly workspace: Workspace },
  targets: readonly string[],
  approve: () => Promise<void>,
): Promise<readonly PlanCommitOutcome[]> {
  const snapshots = await Promise.all(
    targets.map((target) => workspace.checkTarget(target, 'overwrite')),
  );
  return workspace.commitPlan({
    planId: PLAN_ID,
    siblingBackups: false,
    atomic: true,
    approve,
    changes: snapshots.map((expected) => ({
      target: expected.path,
      operation: 'overwrite',
      parts: [{ kind: 'new', source: sourceOf('new') }],
      eol: 'as-is',
      expected,
    })),
  });
}

it('a plan that waits for a person keeps its files, and all that it needs', async () => {
  const test = await openHosts();
  const outcomes = await planOf(test, ['a.txt', 'b.txt'], async () => {
    for (let beat = 1; beat <= 36; beat += 1) {
      await test.pass(5_000);
      await renewed(test);
      if (beat % 6 === 0) await test.other.sessions.housekeep();
    }
    const session = beginSession(test.other, 'a.txt', undefined, 'overwrite');
    expect(await codeOf(session)).toBe('TARGET_LOCKED');
  });
  expect(outcomes).toMatchObject([{ kind: 'done' }, { kind: 'done' }]);
  expect(test.clock.pending()).toBe(0);
  expect(readdirSync(join(test.root, '.orion/locks'))).toEqual([]);
  const { files } = await test.other.undo({});
  expect(files).toMatchObject([{ outcome: 'restored' }, { outcome: 'restored' }]);
});

/** Once all locks show the present time. */
async function renewed({ root, clock }: Awaited<ReturnType<typeof openHosts>>): Promise<void> {
  const locks = join(root, '.orion/locks');
  const due = new Date(clock.now()).toISOString();
  await eventually(async () => {
    const names = readdirSync(locks).filter((name) => !name.startsWith('.'));
    const records = await Promise.all(names.map((name) => jsonAt(join(locks, name))));
    return (
      clock.pending() === names.length && records.every((record) => record['heartbeat_at'] === due)
    );
  }, 'the renewal of the locks');
}

it('a plan is taken back once none of its files is locked any more, and not before', async () => {
  const test = await openHosts();
  const [done] = await planOf(test, ['a.txt'], async () => undefined);
  if (done?.kind !== 'done') throw new Error('not written');
  const { result } = done;
  const journals = new PlanJournals(
    new StateDirectory(join(test.root, '.orion')),
    createProcessObserver(test.clock, identityOf('one')),
    test.clock,
  );
  const after = { temp: 'x', result, before: sha256('old') };
  await journals.write(PLAN_ID, true, [
    { ...after, target: 'a.txt', after: sha256('new') },
    { ...after, target: 'b.txt', after: sha256('never') },
  ]);
  const holder = await beginSession(test.workspace, 'b.txt', undefined, 'overwrite');
  await test.pass(60_000);
  await test.other.sessions.housekeep();
  expect(await readFile(join(test.root, 'a.txt'), 'utf8')).toBe('new');
  expect(readdirSync(join(test.root, '.orion/plans'))).toEqual([PLAN_ID]);
  await holder.remove();
  await test.other.sessions.housekeep();
  expect(await readFile(join(test.root, 'a.txt'), 'utf8')).toBe('old');
  expect(readdirSync(join(test.root, '.orion/plans'))).toEqual([]);
});

it('one whose host is gone leaves nothing', async () => {
  const test = await openHosts();
  await prepared(test);
  test.otherClock.jump(HOUR);
  await test.other.sessions.housekeep();
  expect(readdirSync(test.root).toSorted()).toEqual(['.orion', 'a.txt', 'b.txt']);
  expect(readdirSync(join(test.root, '.orion/temporaries'))).toEqual([]);
  expect(readdirSync(join(test.root, '.orion/backups'))).toEqual([]);
  expect(existsSync(join(test.root, 'a.txt'))).toBe(true);
});

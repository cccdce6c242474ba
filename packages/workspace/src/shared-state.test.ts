/** Hazard: one state directory (`ORION_STATE_DIR`) for several workspaces, whose relative paths are the same. R069, R260. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlanCommitRequest, Workspace } from '@orion/contracts';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import type { ProcessIdentity } from './ownership/process-identity.ts';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  RECORD,
  sourceOf,
  temporaryDirectory,
  textOf,
  beginSession,
  releasedSession,
} from './testing/temp-workspace.ts';
import type { TestWorkspace } from './testing/temp-workspace.ts';

const PLAN_ID = '8f14e45f-ceea-4670-9e4a-0123456789ab';
const DAY_MS = 24 * 60 * 60 * 1000;

const processOf = (startedAt: string) => (): Promise<ProcessIdentity> =>
  Promise.resolve({ pid: process.pid, host: 'here', pidNamespace: '', startedAt });

type Place = {
  readonly userKeyDirectory: string;
  readonly stateDirectory: string;
  readonly roots: readonly [string, string];
};

/** Two roots with the same names in them. */
async function place(): Promise<Place> {
  const base = await temporaryDirectory();
  const roots = [join(base, 'one'), join(base, 'deeper/two')] as const;
  for (const root of roots) {
    await mkdir(root, { recursive: true });
    for (const name of ['a.txt', 'b.txt']) await writeFile(join(root, name), `old ${name}`);
  }
  return { userKeyDirectory: join(base, 'keys'), stateDirectory: join(base, 'state'), roots };
}

function open(
  { userKeyDirectory, stateDirectory }: Place,
  root: string,
  startedAt = 'here',
): Promise<TestWorkspace> {
  return openTestWorkspace({
    root,
    userKeyDirectory,
    stateDirectory,
    identity: processOf(startedAt),
  });
}

async function planOf(workspace: Workspace): Promise<PlanCommitRequest> {
  const changes = ['a.txt', 'b.txt'].map(async (target) => ({
    target,
    operation: 'overwrite' as const,
    parts: [{ kind: 'new' as const, source: sourceOf(`new ${target}`) }],
    eol: 'as-is' as const,
    expected: await workspace.checkTarget(target, 'overwrite'),
  }));
  return {
    planId: PLAN_ID,
    changes: await Promise.all(changes),
    siblingBackups: false,
    atomic: true,
  };
}

async function filesIn(root: string): Promise<Record<string, string>> {
  const entries = readdirSync(root).map(
    async (name) => [name, await readFile(join(root, name), 'utf8')] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

const OLD = { 'a.txt': 'old a.txt', 'b.txt': 'old b.txt' };

/** A plan in this root, of a process that ends right before it changes the second file. */
async function endInPlan(from: Place, root: string): Promise<void> {
  const { workspace } = await open(from, root, 'gone');
  const request = await planOf(workspace);
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  let isDead = false;
  disk.use((call) => {
    isDead ||= call.name === 'rename' && call.to === join(root, 'b.txt');
    return isDead ? { kind: 'error', code: 'EIO' } : null;
  });
  await workspace.commitPlan(request);
  disk.use(null);
}

it('a plan that one did not finish is taken back by its next start, whoever starts before', async () => {
  const from = await place();
  const [mine, others] = from.roots;
  await endInPlan(from, mine);
  expect(await filesIn(mine)).toMatchObject({ 'a.txt': 'new a.txt', 'b.txt': 'old b.txt' });
  expect(readdirSync(mine)).toHaveLength(3);
  const other = await open(from, others);
  for (const age of [0, DAY_MS, 20 * DAY_MS]) {
    other.clock.jump(age);
    await other.workspace.sessions.housekeep();
  }
  expect(other.events.map(({ type }) => type)).toEqual([]);
  expect(await filesIn(others)).toEqual(OLD);
  const own = await open(from, mine);
  await own.workspace.sessions.housekeep();
  expect(own.events.map(({ type }) => type)).toContain('plan_rolled_back');
  expect(await filesIn(mine)).toEqual(OLD);
  for (const inner of ['plans', 'temporaries']) {
    expect(readdirSync(join(from.stateDirectory, inner))).toEqual([]);
  }
});

it('a change of one is not undone in the other, and its only backup stays', async () => {
  const from = await place();
  const [mine, others] = from.roots;
  const own = await open(from, mine);
  const target = await own.workspace.checkTarget('a.txt', 'overwrite');
  const { backup_id: id = '' } = await own.workspace.commit(
    commitRequest('overwrite', target, 'new'),
  );
  const other = await open(from, others);
  await writeFile(join(others, 'a.txt'), 'new');
  expect(await Array.fromAsync(other.workspace.changes())).toEqual([]);
  expect(await codeOf(other.workspace.undo({}))).toBe('CHANGE_NOT_FOUND');
  expect(await codeOf(other.workspace.undo({ id, force: true }))).toBe('CHANGE_NOT_FOUND');
  const theirs = await other.workspace.checkTarget('b.txt', 'overwrite');
  await other.workspace.commit(commitRequest('overwrite', theirs, 'theirs'));
  other.clock.jump(40 * DAY_MS);
  await other.workspace.sessions.housekeep();
  expect((await own.workspace.undo({})).files).toMatchObject([{ target_file: 'a.txt' }]);
  expect(await filesIn(mine)).toEqual(OLD);
});

it('a session of one is not seen, recovered or cleaned in the other, which says where it belongs', async () => {
  const from = await place();
  const [mine, others] = from.roots;
  const own = await open(from, mine);
  const handle = await releasedSession(own.workspace, 'c.txt', 'text of one\n');
  const { sessions } = (await open(from, others)).workspace;
  expect(await sessions.list()).toEqual([]);
  await expect(sessions.claim(handle.id)).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
    hint: expect.stringContaining(mine),
  });
  expect(await codeOf(sessions.discard(handle.id))).toBe('SESSION_NOT_FOUND');
  expect((await sessions.clean({ all: true })).moved).toEqual([]);
  const claimed = await own.workspace.sessions.claim(handle.id);
  expect(claimed.notes).toEqual([]);
  expect(await textOf(claimed.handle.readContent())).toBe('text of one\n');
});

it('a workspace that is moved with its state finds everything again', async () => {
  const { userKeyDirectory, roots } = await place();
  const [root] = roots;
  const { workspace } = await openTestWorkspace({ root, userKeyDirectory });
  const handle = await beginSession(workspace, 'c.txt');
  await handle.save(RECORD);
  await handle.release();
  const target = await workspace.checkTarget('a.txt', 'overwrite');
  await workspace.commit(commitRequest('overwrite', target, 'new'));
  await rename(root, `${root}-moved`);
  const moved = await openTestWorkspace({ root: `${root}-moved`, userKeyDirectory });
  expect(await moved.workspace.sessions.list()).toMatchObject([{ status: 'orphan' }]);
  expect((await moved.workspace.undo({})).files).toMatchObject([{ outcome: 'restored' }]);
});

it('a state directory below a link is the same before and after it was made', async () => {
  const { userKeyDirectory, roots } = await place();
  const [root] = roots;
  const behind = join(await temporaryDirectory(), 'far/behind');
  await mkdir(behind, { recursive: true });
  const link = join(await temporaryDirectory(), 'link');
  await symlink(behind, link);
  const options = { root, userKeyDirectory, stateDirectory: join(link, 'inner/state') };
  const { workspace, again } = await openTestWorkspace(options);
  const handle = await beginSession(workspace, 'c.txt');
  await handle.save(RECORD);
  await handle.release();
  expect(existsSync(join(behind, 'inner/state/logs'))).toBe(true);
  expect(await (await again()).sessions.list()).toMatchObject([{ status: 'orphan' }]);
});

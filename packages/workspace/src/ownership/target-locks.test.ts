/** Hazard: a lock is given back between two looks at it, and two processes take what is free (R008, R064). */
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createFakeClock } from '@orion/testkit';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import { StateDirectory } from '../state-directory.ts';
import { codeOf, temporaryDirectory } from '../testing/temp-workspace.ts';
import { createProcessObserver, ownIdentity } from './process-identity.ts';
import { TargetLocks } from './target-locks.ts';

const SESSION = '00000000-0000-4000-8000-000000000000';
const OTHER = '00000000-0000-4000-8000-000000000001';

it('A13: whoever looked before the name was free does not take it from who has it since', async () => {
  const root = await temporaryDirectory();
  const observer = createProcessObserver(createFakeClock(Date.now()));
  const state = new StateDirectory(join(root, '.orion'));
  const acquire = async (owner: Awaited<ReturnType<typeof observer.newOwner>>) =>
    new TargetLocks({ state, observer, root }).acquire(
      join(root, 'a.txt'),
      'a.txt',
      owner,
      SESSION,
    );
  await acquire(await observer.newOwner());
  const [name = ''] = readdirSync(state.locks);
  const file = join(state.locks, name);
  const winner = await observer.newOwner();
  const disk = await interceptDisk();
  onTestFinished(() => disk.use(null));
  let stage = 'held' as 'held' | 'free' | 'taken';
  disk.use((call) => {
    if (stage === 'held' && call.name === 'open' && call.path === file) {
      // The first holder gives it back right before it is looked at.
      unlinkSync(file);
      stage = 'free';
    } else if (stage === 'free' && call.name === 'rename' && call.to === file) {
      // Another process takes the free name, the moment before the late one would put its own record there.
      const temporary = join(state.locks, '.winner');
      writeFileSync(temporary, `${JSON.stringify({ ...winner, session_id: SESSION })}\n`);
      linkSync(temporary, file);
      unlinkSync(temporary);
      stage = 'taken';
    }
    return null;
  });
  const late = await observer.newOwner();
  const lateOne = await codeOf(acquire(late));
  const holders = [lateOne === 'no error' ? late : null, stage === 'taken' ? winner : null];
  expect(holders.filter((holder) => holder !== null)).toHaveLength(1);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    token: holders.find((holder) => holder !== null)?.token,
  });
  expect(readdirSync(state.locks)).toEqual([name]);
});

it('says which file another session holds, and takes it when that is given back', async () => {
  const root = await temporaryDirectory();
  const observer = createProcessObserver(createFakeClock(Date.now()));
  const state = new StateDirectory(join(root, '.orion'));
  const locks = new TargetLocks({ state, observer, root });
  const path = join(root, 'a.txt');
  const acquire = async (session: string) =>
    locks.acquire(path, 'a.txt', await observer.newOwner(), session);
  const lock = await acquire(SESSION);
  await expect(acquire(OTHER)).rejects.toMatchObject({
    code: 'TARGET_LOCKED',
    message: 'Another write session holds "a.txt".',
  });
  expect(await locks.belongsTo(path, SESSION)).toBe(true);
  expect(await locks.belongsTo(path, OTHER)).toBe(false);
  expect(await locks.belongsTo(join(root, 'b.txt'), SESSION)).toBe(false);
  await lock.release();
  expect(readdirSync(state.locks)).toEqual([]);
  await acquire(OTHER);
  expect(await locks.belongsTo(path, OTHER)).toBe(true);
  // What was given back belongs to nobody: giving it back again takes nothing from the other.
  await lock.release();
  expect(await locks.belongsTo(path, OTHER)).toBe(true);
});

it('one name for one target, spelled as the file system tells names apart', async () => {
  const root = await temporaryDirectory();
  const observer = createProcessObserver(createFakeClock(Date.now()));
  const keyIn = (folder: string, path: string) =>
    new TargetLocks({
      state: new StateDirectory(join(root, '.orion')),
      observer,
      root: folder,
    }).keyOf(path);
  expect(await keyIn(root, '/a/B')).not.toBe(await keyIn(root, '/a/b'));
  expect(await keyIn(root, '/a/B')).toMatch(/^[0-9a-f]{64}$/u);
  // A root that is found in another case too, as on a file system that folds them.
  const folder = join(root, 'case');
  mkdirSync(folder);
  symlinkSync(folder, join(root, 'CASE'));
  expect(await keyIn(folder, '/a/B')).not.toBe(await keyIn(folder, '/a/b'));
  // Nothing is known of a name without letters.
  expect(await keyIn('/', '/a/B')).not.toBe(await keyIn('/', '/a/b'));
});

it.each([
  ['beats', 0, {}, true],
  ['beat a moment less than its time ago', 29_999, {}, true],
  ['beat its time ago', 30_000, {}, false],
  ['was given back', 0, { released: true }, false],
  ['is of a later owner', 0, { token: 'f'.repeat(32) }, false],
  ['is missing', 0, null, false],
] as const)('of an owner on another host, whose lease %s', async (_, age, change, isHeld) => {
  const root = await temporaryDirectory();
  const clock = createFakeClock(Date.now());
  const state = new StateDirectory(join(root, '.orion'));
  const observer = createProcessObserver(clock);
  const locks = new TargetLocks({ state, observer, root });
  const elsewhere = createProcessObserver(clock, async () => ({
    ...(await ownIdentity()),
    host: 'elsewhere',
  }));
  // The lock has the time at which it was taken: only the lease of its session tells more.
  const owner = await elsewhere.newOwner();
  const path = join(root, 'a.txt');
  const timeOf = (past: number) => new Date(clock.now() - past).toISOString();
  const first = await locks.acquire(
    path,
    'a.txt',
    { ...owner, heartbeat_at: timeOf(60_000) },
    OTHER,
  );
  if (change !== null) {
    const session = join(state.sessions, OTHER);
    mkdirSync(session, { recursive: true });
    const lease = { ...owner, heartbeat_at: timeOf(age), ...change };
    writeFileSync(join(session, 'lease.json'), JSON.stringify(lease));
  }
  const late = locks.acquire(path, 'a.txt', await observer.newOwner(), SESSION);
  expect(await codeOf(late)).toBe(isHeld ? 'TARGET_LOCKED' : 'no error');
  expect(await locks.belongsTo(path, isHeld ? OTHER : SESSION)).toBe(true);
  await first.release();
  expect(await locks.belongsTo(path, SESSION)).toBe(!isHeld);
});

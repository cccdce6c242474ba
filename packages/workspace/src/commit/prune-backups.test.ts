/** Hazard: a backup that is needed is dropped, or what is no backup decides which are. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import { commitRequest, openTestWorkspace, temporaryDirectory } from '../testing/temp-workspace.ts';

const HOUR = 60 * 60 * 1_000;
const BYTES = 1_000;

/** With three changes of a file, a second apart, each of which keeps `BYTES`. */
async function openChanged(backupsMaxBytes: number) {
  const userKeyDirectory = await temporaryDirectory();
  const test = await openTestWorkspace({ userKeyDirectory, settings: { backupsMaxBytes } });
  writeFileSync(join(test.root, 'a.txt'), 'x'.repeat(BYTES));
  const ids: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    test.clock.jump(1_000);
    const expected = await test.workspace.checkTarget('a.txt', 'overwrite');
    const request = commitRequest('overwrite', expected, String(round).repeat(BYTES));
    ids.push((await test.workspace.commit(request)).backup_id ?? '');
  }
  const backups = join(test.root, '.orion/backups');
  return { ...test, ids, backups, names: () => readdirSync(backups).toSorted() };
}

it('a link is no backup, whatever lies where it leads', async () => {
  const { again, backups, ids, names } = await openChanged(5 * BYTES);
  const outside = await temporaryDirectory();
  writeFileSync(join(outside, 'content'), 'x'.repeat(100 * BYTES));
  const link = '29991231T235959999Z-0123456789abcdef';
  symlinkSync(outside, join(backups, link));
  await (await again()).sessions.housekeep();
  expect(names()).toEqual([...ids, link].toSorted());
  expect(existsSync(join(outside, 'content'))).toBe(true);
});

it("somebody else's of a time that is yet to come goes, and none of this user's for it", async () => {
  const { again, backups, ids, names, root } = await openChanged(5 * BYTES);
  const planted = '99991231T235959999Z-0123456789abcdef';
  mkdirSync(join(backups, planted));
  writeFileSync(join(backups, planted, 'content'), 'x'.repeat(100 * BYTES));
  const own = readFileSync(join(backups, ids[2] ?? '', 'manifest.json'), 'utf8');
  const manifest = { ...(JSON.parse(own) as object), id: planted, mac: undefined };
  writeFileSync(join(backups, planted, 'manifest.json'), JSON.stringify(manifest));
  const workspace = await again();
  await workspace.sessions.housekeep();
  expect(names()).toEqual(ids);
  expect((await workspace.undo({})).change_id).toBe(ids[2]);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('1'.repeat(BYTES));
});

it("somebody else's is not the newest change of a workspace, which stays whatever its size", async () => {
  const { again, backups, clock, ids, names } = await openChanged(5 * BYTES);
  const planted = new Date(clock.now() + 1_000).toISOString().replaceAll(/[-:.]/gu, '');
  const id = `${planted}-0123456789abcdef`;
  mkdirSync(join(backups, id));
  const own = readFileSync(join(backups, ids[2] ?? '', 'manifest.json'), 'utf8');
  const manifest = { ...(JSON.parse(own) as object), id, mac: undefined };
  writeFileSync(join(backups, id, 'manifest.json'), JSON.stringify(manifest));
  clock.jump(60 * 24 * HOUR);
  await (await again()).sessions.housekeep();
  expect(names()).toEqual([ids[2]]);
});

it('a change goes whole, so that none is undone in part', async () => {
  const { workspace, again, clock, names, root } = await openChanged(10 * BYTES);
  const write = async (path: string, bytes: number, changeId: string): Promise<string> => {
    writeFileSync(join(root, path), 'x'.repeat(bytes));
    clock.jump(1_000);
    const expected = await workspace.checkTarget(path, 'overwrite');
    const request = { ...commitRequest('overwrite', expected, 'new'), changeId };
    return (await workspace.commit(request)).backup_id ?? '';
  };
  await write('b.txt', 6 * BYTES, 'plan');
  await write('c.txt', BYTES, 'plan');
  const last = await write('d.txt', 5 * BYTES, 'last');
  await (await again()).sessions.housekeep();
  expect(names()).toEqual([last]);
});

it('one that cannot be read just now stays', async () => {
  const { again, clock, ids, names } = await openChanged(5 * BYTES);
  clock.jump(60 * 24 * HOUR);
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  disk.use(({ name, path }) =>
    name === 'open' && path.includes(ids[0] ?? '-') ? { kind: 'error', code: 'EIO' } : null,
  );
  const workspace = await again();
  await workspace.sessions.housekeep();
  expect(names()).toEqual([ids[0], ids[2]]);
  disk.use(null);
  await workspace.sessions.housekeep();
  expect(names()).toEqual([ids[2]]);
});

it('what a dead process has begun goes after an hour', async () => {
  const { again, backups, clock, ids, names } = await openChanged(5 * BYTES);
  for (const [name, age] of [
    ['.draft-old', HOUR + 1_000],
    ['.draft-young', HOUR - 60_000],
  ] as const) {
    const seconds = (clock.now() - age) / 1_000;
    mkdirSync(join(backups, name));
    utimesSync(join(backups, name), seconds, seconds);
  }
  await (await again()).sessions.housekeep();
  expect(names()).toEqual(['.draft-young', ...ids]);
});

/** Hazard: the more was ever changed in a workspace, the longer each further change takes. */
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import { commitRequest, openTestWorkspace } from '../testing/temp-workspace.ts';

const BYTES = 1_000;

async function openFull(backupsMaxBytes: number) {
  const test = await openTestWorkspace({ settings: { backupsMaxBytes } });
  await writeFile(join(test.root, 'a.txt'), 'x'.repeat(BYTES));
  const commit = async (): Promise<string> => {
    test.clock.jump(1_000);
    const expected = await test.workspace.checkTarget('a.txt', 'overwrite');
    const request = commitRequest('overwrite', expected, 'y'.repeat(BYTES));
    return (await test.workspace.commit(request)).backup_id ?? '';
  };
  const counts = { looked: 0, read: 0 };
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  disk.use(({ name, path }) => {
    if (name === 'lstat' && path.endsWith('content')) counts.looked += 1;
    if (name === 'open' && path.endsWith('manifest.json')) counts.read += 1;
    return null;
  });
  const kept = (): readonly string[] => readdirSync(join(test.root, '.orion/backups')).toSorted();
  return { ...test, commit, counts, kept };
}

it('a full store makes room for several changes at once, and is not counted at each', async () => {
  const { commit, counts, kept } = await openFull(20 * BYTES);
  const ids: string[] = [];
  for (let round = 0; round < 21; round += 1) ids.push(await commit());
  // 21 are too many; a tenth of the room is made free.
  expect(kept()).toEqual(ids.slice(3));
  counts.looked = 0;
  ids.push(await commit(), await commit());
  expect(counts.looked).toBe(0);
  expect(kept()).toEqual(ids.slice(3));
  ids.push(await commit());
  expect(counts.looked).toBe(21);
  expect(kept()).toEqual(ids.slice(6));
});

it('where there is room, no change is read to count them', async () => {
  const { again, commit, counts } = await openFull(100 * BYTES);
  for (let round = 0; round < 10; round += 1) await commit();
  counts.read = 0;
  const other = await again();
  await other.sessions.housekeep();
  expect(counts.read).toBe(0);
});

it('counts that are asked for at the same time are one', async () => {
  const { workspace, commit, counts } = await openFull(100 * BYTES);
  for (let round = 0; round < 10; round += 1) await commit();
  counts.looked = 0;
  await Promise.all(Array.from({ length: 5 }, () => workspace.sessions.housekeep()));
  expect(counts.looked).toBeLessThan(20);
});

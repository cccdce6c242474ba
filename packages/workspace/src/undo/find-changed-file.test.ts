/** Hazard: to find one change, everything that was ever changed is read. */
import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import { commitRequest, openTestWorkspace, sha256 } from '../testing/temp-workspace.ts';

/** A workspace with as many changes of a file, and what each look for one of them finds and reads. */
async function openWithChanges(count: number) {
  const { root, workspace } = await openTestWorkspace();
  await writeFile(join(root, 'a'), 'before');
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const [index, changeId] of ids.entries()) {
    const expected = await workspace.checkTarget('a', 'overwrite');
    const request = commitRequest('overwrite', expected, String(index));
    await workspace.commit({ ...request, changeId });
  }
  let read = 0;
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  disk.use(({ name, path }) => {
    if (name === 'open' && path.endsWith('manifest.json')) read += 1;
    return null;
  });
  const look = async (id: string | undefined) => {
    read = 0;
    return { found: await workspace.findChangedFile(id ?? ''), read };
  };
  return { backups: join(root, '.orion/backups'), ids, look };
}

const found = (text: string) =>
  expect.objectContaining({
    target_file: 'a',
    operation: 'overwrite',
    after: { sha256: sha256(text) },
  }) as unknown;

it('reads the change that is looked for, and none if there is no such change', async () => {
  const { ids, look } = await openWithChanges(6);
  expect(await look(ids[5])).toEqual({ found: found('5'), read: 1 });
  expect(await look(ids[0])).toEqual({ found: found('0'), read: 1 });
  expect(await look(randomUUID())).toEqual({ found: null, read: 0 });
});

it('finds the changes of earlier versions, whose backups do not name their change', async () => {
  const { backups, ids, look } = await openWithChanges(4);
  for (const name of readdirSync(backups).toSorted().slice(0, 2)) {
    const id = name.slice(0, -8);
    const manifest = join(backups, name, 'manifest.json');
    await writeFile(manifest, (await readFile(manifest, 'utf8')).replace(name, id));
    renameSync(join(backups, name), join(backups, id));
  }
  expect(await look(ids[0])).toEqual({ found: found('0'), read: 2 });
  expect(await look(ids[3])).toEqual({ found: found('3'), read: 1 });
  expect(await look(randomUUID())).toEqual({ found: null, read: 2 });
});

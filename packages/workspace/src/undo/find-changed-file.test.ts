/** Hazard: to find one change, everything that was ever changed is read. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import { commitRequest, openTestWorkspace, sha256 } from '../testing/temp-workspace.ts';

it('reads the changes from the newest to the one that is looked for', async () => {
  const { root, workspace } = await openTestWorkspace();
  await writeFile(join(root, 'a'), '0');
  const ids = Array.from({ length: 6 }, () => randomUUID());
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
  const reads = async (id: string) => {
    read = 0;
    return { found: await workspace.findChangedFile(id), read };
  };
  const found = (text: string) => ({
    target_file: 'a',
    operation: 'overwrite',
    after: { sha256: sha256(text) },
  });
  expect(await reads(ids[5] ?? '')).toEqual({ found: found('5'), read: 1 });
  expect(await reads(ids[3] ?? '')).toEqual({ found: found('3'), read: 3 });
  expect(await reads(randomUUID())).toEqual({ found: null, read: 6 });
});

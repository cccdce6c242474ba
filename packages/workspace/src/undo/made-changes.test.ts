/** Hazard: a list of changes that ends early, without a word. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import { commitRequest, openTestWorkspace } from '../testing/temp-workspace.ts';

it.each(['open', 'readdir'])(
  'a disk that fails in %s is told, and nothing is undone',
  async (call) => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    await workspace.commit(commitRequest('overwrite', expected, 'new'));
    const disk = await interceptDisk();
    onTestFinished(() => disk.restore());
    disk.use(({ name, path }) =>
      name === call && path.includes('/.orion/backups') ? { kind: 'error', code: 'EIO' } : null,
    );
    const failed = { code: 'WRITE_FAILED', message: expect.stringContaining('read the backups') };
    await expect(Array.fromAsync(workspace.changes())).rejects.toMatchObject(failed);
    await expect(workspace.undo({})).rejects.toMatchObject(failed);
  },
);

/** Hazard: between the first look at a target and its change, somebody puts something else in its place. */
import { execFileSync } from 'node:child_process';
import { unlinkSync } from 'node:fs';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  temporaryDirectory,
} from '../testing/temp-workspace.ts';

const READ = (path: string): Promise<string> => readFile(path, 'utf8');

it.each(['another directory', 'a link to it'] as const)(
  'R245, B3: a directory that was moved out of the workspace is noticed, with %s in its place',
  async (replacement) => {
    const { root, workspace } = await openTestWorkspace();
    const outside = join(await temporaryDirectory(), 'moved');
    await mkdir(join(root, 'docs'));
    await writeFile(join(root, 'docs/a.txt'), 'old');
    const expected = await workspace.checkTarget('docs/a.txt', 'overwrite');
    const commit = workspace.commit({
      ...commitRequest('overwrite', expected, 'new'),
      journal: async () => {
        await rename(join(root, 'docs'), outside);
        if (replacement === 'a link to it') return symlink(outside, join(root, 'docs'));
        await mkdir(join(root, 'docs'));
        await writeFile(join(root, 'docs/a.txt'), 'of somebody else');
      },
    });
    expect(await codeOf(commit)).toBe('TARGET_CHANGED');
    expect(await READ(join(outside, 'a.txt'))).toBe('old');
    if (replacement === 'another directory') {
      expect(await READ(join(root, 'docs/a.txt'))).toBe('of somebody else');
    }
  },
);

it.skipIf(process.platform === 'win32')(
  'B4: a pipe that takes the name of the file is not waited for when its bytes are kept',
  async () => {
    const { root, workspace } = await openTestWorkspace();
    const path = join(root, 'a.txt');
    await writeFile(path, 'old');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const disk = await interceptDisk();
    onTestFinished(() => disk.use(null));
    let swapped = false;
    disk.use((call) => {
      if (call.name === 'copyfile' && !swapped) {
        swapped = true;
        unlinkSync(path);
        execFileSync('mkfifo', [path]);
      }
      return null;
    });
    const commit = workspace.commit(commitRequest('overwrite', expected, 'new'));
    expect(await codeOf(commit)).toBe('TARGET_CHANGED');
    expect(swapped).toBe(true);
  },
);

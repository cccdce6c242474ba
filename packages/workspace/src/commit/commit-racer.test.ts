import { mkdir, readdir, rename, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  temporaryDirectory,
} from '../testing/temp-workspace.ts';

const ignore = (): void => undefined;

it.skipIf(process.platform !== 'linux')(
  'never writes outside while a directory is swapped for a link (B3)',
  async () => {
    const { root, workspace } = await openTestWorkspace();
    const outside = await temporaryDirectory();
    const directory = join(root, 'dir');
    const aside = join(root, 'aside');
    await mkdir(directory);
    let racing = true;
    const racer = (async () => {
      // A commit may make the missing directory anew, so each of these may find it otherwise.
      for (let swap = 0; racing; swap += 1) {
        await rename(directory, `${aside}-${swap}`).catch(ignore);
        await symlink(outside, directory).catch(ignore);
        await unlink(directory).catch(ignore);
        await rename(`${aside}-${swap}`, directory).catch(ignore);
      }
    })();
    const outcomes = new Set<string>();
    for (let round = 0; round < 300; round += 1) {
      const name = `dir/file-${round}.txt`;
      const expected = await workspace.checkTarget(name, 'create').catch(() => null);
      if (expected === null) continue;
      outcomes.add(await codeOf(workspace.commit(commitRequest('create', expected, 'x'))));
      expect(await readdir(outside)).toEqual([]);
    }
    racing = false;
    await racer;
    expect([...outcomes].toSorted()).toContain('no error');
    expect(await readdir(outside)).toEqual([]);
  },
  60_000,
);

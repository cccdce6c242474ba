import { mkdir, readdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Workspace } from '@orion/contracts';
import { expect, it } from 'vitest';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  temporaryDirectory,
} from '../testing/temp-workspace.ts';

const ignore = (): void => undefined;
const yes = (): boolean => true;
const no = (): boolean => false;
const CANARY = 'outside and inside alike';

type Attempt = (workspace: Workspace, round: number) => Promise<unknown>;

const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  create: async (workspace, round) => {
    const expected = await workspace.checkTarget(`dir/new-${round}.txt`, 'create');
    return workspace.commit(commitRequest('create', expected, 'x'));
  },
  append: async (workspace) => {
    const expected = await workspace.checkTarget('dir/a.txt', 'append');
    return workspace.commit(commitRequest('append', expected, 'x'));
  },
  // What stands outside has the very bytes that an undo expects, or would restore.
  undo: async (workspace) => workspace.undo({ force: true }),
};

it.skipIf(process.platform !== 'linux').each(Object.keys(ATTEMPTS))(
  'never writes outside while a directory is swapped for a link: %s (B3)',
  async (name) => {
    const { root, workspace } = await openTestWorkspace();
    const outside = await temporaryDirectory();
    const directory = join(root, 'dir');
    const aside = join(root, 'aside');
    await mkdir(directory);
    await writeFile(join(directory, 'a.txt'), CANARY);
    await writeFile(join(outside, 'a.txt'), CANARY);
    if (name === 'undo') await ATTEMPTS['append']?.(workspace, 0);
    let racing = true;
    const racer = (async () => {
      for (let swap = 0; racing; swap += 1) {
        await rename(directory, aside);
        await symlink(outside, directory).catch(ignore);
        await unlink(directory).catch(ignore);
        // A commit may have made the missing directory anew.
        await rm(directory, { recursive: true, force: true });
        while (!(await rename(aside, directory).then(yes, no))) {
          await rm(directory, { recursive: true, force: true });
        }
        // Sometimes a commit fits in between.
        for (let turn = (swap % 4) * 250; turn > 0; turn -= 1) await setImmediate();
      }
    })();
    const outcomes = new Set<string>();
    // Until one fits in between: how many that takes is up to the machine.
    for (let round = 0; round < 60 || !outcomes.has('no error'); round += 1) {
      outcomes.add(await codeOf(ATTEMPTS[name]?.(workspace, round) ?? Promise.resolve()));
      expect(await readdir(outside)).toEqual(['a.txt']);
      expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe(CANARY);
    }
    racing = false;
    await racer;
  },
  60_000,
);

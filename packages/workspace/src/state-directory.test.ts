import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createFakeClock } from '@orion/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createWorkspace } from './create-workspace.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'orion-state-'));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

it('is made for whoever keeps something there, for its owner alone and ignored by git', async () => {
  const workspace = await createWorkspace({ root, clock: createFakeClock() });
  await workspace.ensureStateDirectory();
  await workspace.ensureStateDirectory();
  const { mode } = await stat(workspace.stateDirectory);
  expect((mode & 0o777).toString(8)).toBe('700');
  expect(await readFile(join(workspace.stateDirectory, '.gitignore'), 'utf8')).toBe('*\n');
});

it('that cannot be made is an error of the disk', async () => {
  await writeFile(join(root, '.orion'), 'a file in its place');
  const workspace = await createWorkspace({ root, clock: createFakeClock() });
  await expect(workspace.ensureStateDirectory()).rejects.toMatchObject({ name: 'OrionError' });
});

it('in a place that takes no new names is an error, not a search without end', async () => {
  const clock = createFakeClock();
  const workspace = await createWorkspace({ root, clock, stateDirectory: '/proc/nowhere/state' });
  await expect(workspace.ensureStateDirectory()).rejects.toMatchObject({ name: 'OrionError' });
});

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createFakeClock } from '@orion/testkit';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createWorkspace } from './create-workspace.ts';
import { errnoOf, toDiskError } from './disk/disk-error.ts';
import { isSessionId, resolveChosenDirectory, StateDirectory } from './state-directory.ts';

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

it.each([
  ['a file', 'no folder', (path: string) => writeFile(path, 'a file in its place')],
  ['a pipe', 'no folder', (path: string) => void execFileSync('mkfifo', [path])],
  ['a link to a folder', 'a link', (path: string) => symlink(root, path)],
  ['a link to nothing', 'a link', (path: string) => symlink(join(root, 'nothing'), path)],
])('in whose place stands %s says which, and what to do (issue 12)', async (_, is, plant) => {
  await plant(join(root, '.orion'));
  const workspace = await createWorkspace({ root, clock: createFakeClock() });
  const refused = {
    code: 'STORE_FOREIGN',
    message: `${join(root, '.orion')} is ${is}, and not used for what Orion keeps: move it away`,
    hint: 'Or name another folder with ORION_STATE_DIR.',
  };
  await expect(workspace.ensureStateDirectory()).rejects.toMatchObject(refused);
  await rm(join(root, '.orion'));
  const state = new StateDirectory(join(root, '.orion'));
  await state.ensure(state.path);
  await plant(state.locks);
  const failed: unknown = await state.ensure(state.locks).catch((error: unknown) => error);
  expect(errnoOf(failed)).toBe('ENOTDIR');
  expect(toDiskError(failed, 'keep it')).toMatchObject({
    ...refused,
    message: `${state.locks} is ${is}, and not used for what Orion keeps: move it away`,
  });
});

it('in a place that takes no new names is an error, not a search without end', async () => {
  const clock = createFakeClock();
  const workspace = await createWorkspace({ root, clock, stateDirectory: '/proc/nowhere/state' });
  await expect(workspace.ensureStateDirectory()).rejects.toMatchObject({ name: 'OrionError' });
});

const PARTS = [
  'logs',
  'locks',
  'attic',
  'backups',
  'temporaries',
  'plans',
  'texts',
  'set_aside',
  'of a person',
];

it.each([
  ['whole', ['state', ...PARTS]],
  ['inside', PARTS.slice(0, -1)],
] as const)('is closed to others, the %s of it', async (part, closed) => {
  const path = join(root, 'state');
  for (const name of ['', ...PARTS]) {
    await mkdir(join(path, name), { recursive: true });
    await chmod(join(path, name), 0o755);
  }
  new StateDirectory(path).closeToOthers(part);
  const found = await Promise.all(
    ['state', ...PARTS].map(async (name) => {
      const { mode } = await stat(name === 'state' ? path : join(path, name));
      return (mode & 0o077) === 0 ? [name] : [];
    }),
  );
  expect(found.flat()).toEqual(closed);
});

it('has each kind of record in a place of its own, and says whose they are', () => {
  const state = new StateDirectory('/w/.orion');
  expect({ ...state }).toEqual({
    path: '/w/.orion',
    root: '..',
    sessions: '/w/.orion/logs/write_sessions',
    locks: '/w/.orion/locks',
    attic: '/w/.orion/attic',
    backups: '/w/.orion/backups',
    temporaries: '/w/.orion/temporaries',
    plans: '/w/.orion/plans',
    texts: '/w/.orion/texts',
    lists: '/w/.orion/lists',
    server: '/w/.orion/server',
    setAside: '/w/.orion/set_aside',
  });
  expect(new StateDirectory('/state/of/it', '/w/here').root).toBe('../../../w/here');
  expect([undefined, '..', '.', '', null].map((about) => state.isAboutHere(about))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

it('holds what is a directory at every step, and nothing behind a file or a link', async () => {
  const state = new StateDirectory(join(root, 'state'));
  expect(await state.holds(state.locks)).toBe(false);
  expect(await state.names(state.locks)).toEqual([]);
  await state.ensure(state.sessions);
  expect((await stat(join(state.path, 'logs'))).mode & 0o777).toBe(0o700);
  expect(await state.holds(state.sessions)).toBe(true);
  expect(await state.holds(state.path)).toBe(true);
  await writeFile(join(state.sessions, 'one'), '');
  expect(await state.names(state.sessions)).toEqual(['one']);
  expect(await state.holds(join(state.sessions, 'one'))).toBe(false);
  expect(await state.holds(join(state.sessions, 'one', 'below'))).toBe(false);
  await symlink(state.sessions, state.locks);
  expect(await state.holds(state.locks)).toBe(false);
  expect(await state.names(state.locks)).toEqual([]);
});

it('has no names where the directory has just gone, and says so where the disk will not tell', async () => {
  const state = new StateDirectory(join(root, 'state'));
  await state.ensure(state.locks);
  await writeFile(join(state.locks, 'one'), '');
  const disk = await interceptDisk();
  try {
    for (const name of ['readdir', 'lstat'] as const) {
      disk.use((call) => (call.name === name ? { kind: 'error', code: 'EACCES' } : null));
      await expect(state.names(state.locks)).rejects.toMatchObject({ code: 'EACCES' });
    }
    disk.use(({ name, path }) => {
      if (name === 'readdir') rmSync(path, { recursive: true });
      return null;
    });
    expect(await state.names(state.locks)).toEqual([]);
    disk.use((call) => (call.name === 'open' ? { kind: 'error', code: 'EACCES' } : null));
    await rm(join(state.path, '.gitignore'));
    await expect(state.ensure(state.locks)).rejects.toThrow();
  } finally {
    disk.restore();
  }
});

it('that a person chose is followed where it is a link, whether or not all of it is there', async () => {
  const real = join(await realpath(root), 'real');
  await mkdir(real);
  await symlink(real, join(root, 'link'));
  expect(await resolveChosenDirectory(join(root, 'link'))).toBe(real);
  expect(await resolveChosenDirectory(join(root, 'link', 'a', 'b'))).toBe(join(real, 'a', 'b'));
  expect(await resolveChosenDirectory('/')).toBe('/');
  await writeFile(join(root, 'file'), '');
  // What is wrong with it is told by whoever needs it.
  expect(await resolveChosenDirectory(join(root, 'file', 'a'))).toBe(join(root, 'file', 'a'));
  await expect(resolveChosenDirectory(`${root}\0`)).rejects.toThrow(TypeError);
});

it.each([
  ['01234567-89ab-4cde-8f01-23456789abcd', true],
  ['01234567-89ab-4cde-bf01-23456789abcd', true],
  ['01234567-89ab-1cde-8f01-23456789abcd', false],
  ['01234567-89ab-4cde-7f01-23456789abcd', false],
  ['01234567-89AB-4cde-8f01-23456789abcd', false],
  ['x01234567-89ab-4cde-8f01-23456789abcd', false],
  ['01234567-89ab-4cde-8f01-23456789abcd0', false],
  ['01234567-89ab-4cde-8f01-23456789abcd\n', false],
  ['..', false],
  ['', false],
])('the id %j names a session: %s', (text, is) => {
  expect(isSessionId(text)).toBe(is);
});

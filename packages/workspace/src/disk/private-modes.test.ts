import { chmod, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock } from '@orion/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspace } from '../create-workspace.ts';
import { loadSessionKey } from '../session-dir/session-key.ts';
import { closeToOthers } from './private-modes.ts';

/** Hazard: another user reads what Orion keeps of a workspace, since something made it with wide modes (issue 12, 12). */

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'orion-modes-'));
});
afterEach(() => rm(root, { recursive: true }));

const modeOf = async (...path: string[]): Promise<string> =>
  ((await lstat(join(root, ...path))).mode & 0o777).toString(8);

async function make(path: string, mode: number): Promise<void> {
  const whole = join(root, path);
  await mkdir(join(whole, '..'), { recursive: true });
  await writeFile(whole, 'text');
  await chmod(whole, mode);
}

it('closes a directory and everything below it, and follows no link', async () => {
  await make('a/b/file', 0o666);
  await make('outside/file', 0o644);
  await chmod(join(root, 'outside'), 0o755);
  await symlink(join(root, 'outside'), join(root, 'a', 'link'));
  await symlink(join(root, 'outside', 'file'), join(root, 'a', 'b', 'link'));
  await chmod(join(root, 'a'), 0o777);
  await chmod(join(root, 'a', 'b'), 0o750);
  closeToOthers(join(root, 'a'));
  expect([await modeOf('a'), await modeOf('a/b'), await modeOf('a/b/file')]).toEqual([
    '700',
    '700',
    '600',
  ]);
  expect([await modeOf('outside'), await modeOf('outside/file')]).toEqual(['755', '644']);
  await symlink(join(root, 'outside'), join(root, 'top'));
  closeToOthers(join(root, 'top'));
  closeToOthers(join(root, 'nothing'));
  expect(await modeOf('outside')).toBe('755');
});

describe('at the start of a workspace', () => {
  const open = (stateDirectory?: string) =>
    createWorkspace({
      root,
      clock: createFakeClock(),
      ...(stateDirectory === undefined ? {} : { stateDirectory }),
    });

  it('its own state directory is closed, and no file of the workspace is touched', async () => {
    await make('.orion/backups/x/manifest.json', 0o644);
    await make('a.txt', 0o644);
    await chmod(join(root, '.orion'), 0o755);
    await chmod(join(root, '.orion/backups'), 0o755);
    const workspace = await open();
    await workspace.close();
    expect([await modeOf('.orion'), await modeOf('.orion/backups/x/manifest.json')]).toEqual([
      '700',
      '600',
    ]);
    expect(await modeOf('a.txt')).toBe('644');
  });

  it('a directory that a person chose keeps its own mode, and what Orion keeps in it is closed', async () => {
    await make('state/other/file', 0o644);
    await make('state/attic/file', 0o644);
    await chmod(join(root, 'state'), 0o755);
    await chmod(join(root, 'state/other'), 0o755);
    await chmod(join(root, 'state/attic'), 0o755);
    const workspace = await open(join(root, 'state'));
    await workspace.close();
    expect([await modeOf('state'), await modeOf('state/other/file')]).toEqual(['755', '644']);
    expect([await modeOf('state/attic'), await modeOf('state/attic/file')]).toEqual(['700', '600']);
  });

  it('the key by which one’s own sessions are known is closed, too', async () => {
    const home = join(root, 'home');
    await loadSessionKey(home);
    await chmod(join(home, 'session.key'), 0o644);
    const key = await loadSessionKey(home);
    expect(key?.problem).toBeNull();
    expect(await modeOf('home/session.key')).toBe('600');
  });
});

import { lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { createProgramLog } from './program-log.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'orion-program-log-'));
});
afterEach(() => rm(root, { recursive: true }));

const state = (): string => join(root, '.orion');
const file = (): string => join(state(), 'logs', 'mcp', 'a.log');

test('begins anew with the first text, for its owner alone, and leaves nothing without one', async () => {
  await createProgramLog(state(), 'mcp', 'a.log').close();
  await expect(lstat(state())).rejects.toThrow('ENOENT');
  for (const text of ['first', 'second']) {
    const log = createProgramLog(state(), 'mcp', 'a.log');
    log.append(text);
    log.append('\n');
    await log.close();
  }
  expect(await readFile(file(), 'utf8')).toBe('second\n');
  expect((await lstat(file())).mode & 0o777).toBe(0o600);
});

test('has at most 1 MiB, the latest of it', async () => {
  const log = createProgramLog(state(), 'mcp', 'a.log');
  log.append('x'.repeat(600_000));
  await new Promise((resolve) => setTimeout(resolve, 200));
  log.append('y'.repeat(600_000));
  await log.close();
  expect(await readFile(file(), 'utf8')).toBe('y'.repeat(600_000));
});

test('drops what a program writes faster than the disk', async () => {
  const log = createProgramLog(state(), 'mcp', 'a.log');
  for (let at = 0; at < 50; at += 1) log.append('x'.repeat(100_000));
  await log.close();
  expect((await lstat(file())).size).toBeLessThanOrEqual(1024 * 1024);
});

test('follows no link that came with the workspace', async () => {
  const outside = join(root, 'outside');
  await writeFile(outside, 'text');
  await mkdir(join(state(), 'logs', 'mcp'), { recursive: true });
  await symlink(outside, file());
  const log = createProgramLog(state(), 'mcp', 'a.log');
  log.append('written');
  await log.close();
  expect(await readFile(outside, 'utf8')).toBe('text');
  expect(await readFile(file(), 'utf8')).toBe('written');
  await rm(join(state(), 'logs'), { recursive: true });
  await mkdir(join(root, 'elsewhere'));
  await symlink(join(root, 'elsewhere'), join(state(), 'logs'));
  const other = createProgramLog(state(), 'mcp', 'a.log');
  other.append('written');
  await other.close();
  await expect(lstat(join(root, 'elsewhere', 'mcp'))).rejects.toThrow('ENOENT');
});

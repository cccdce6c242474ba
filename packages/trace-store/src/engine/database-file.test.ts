import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkDatabaseFile, makeDatabasePrivate } from './database-file.ts';

/** Hazard: another user may write what is taken for one's own, or read what is private. */

const folder = mkdtempSync(join(tmpdir(), 'orion-file-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileWith(mode: number): string {
  const path = join(folder, `${mode.toString(8)}.db`);
  writeFileSync(path, 'x');
  chmodSync(path, mode);
  return path;
}

test.each([0o600, 0o700, 0o610, 0o640, 0o601, 0o604, 0o755])('mode %o is taken', (mode) => {
  expect(checkDatabaseFile(fileWith(mode))).toBe(true);
});

test.each([0o620, 0o602, 0o666])('mode %o is refused, unless modes are ignored', (mode) => {
  const path = fileWith(mode);
  expect(() => checkDatabaseFile(path)).toThrow('can be written by other users');
  expect(checkDatabaseFile(path, { ignoreModes: true })).toBe(true);
});

test.each(['', '-wal', '-shm', '-journal'])('the file with the ending %j counts', (ending) => {
  const path = join(folder, `beside${ending}.db`);
  writeFileSync(`${path}${ending}`, '');
  chmodSync(`${path}${ending}`, 0o602);
  expect(() => checkDatabaseFile(path)).toThrow('can be written by other users');
  makeDatabasePrivate(path);
  expect(statSync(`${path}${ending}`).mode & 0o777).toBe(0o600);
  expect(checkDatabaseFile(path)).toBe(false);
});

test.each([0o610, 0o620, 0o640, 0o601, 0o602, 0o604, 0o677])('mode %o is made private', (mode) => {
  const path = fileWith(mode);
  makeDatabasePrivate(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a mode that is private is left as it is, and what is no file too', () => {
  const path = fileWith(0o700);
  makeDatabasePrivate(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  const before = statSync(folder).mode;
  chmodSync(folder, 0o755);
  makeDatabasePrivate(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o755);
  chmodSync(folder, before);
});

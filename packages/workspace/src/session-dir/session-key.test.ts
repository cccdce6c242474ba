/** Hazard: a key that is cut short, in a strange place, or made by several at once. R261, B6. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { CHANGING_CALLS, interceptDisk } from '@orion/testkit/disk-faults';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  commitRequest,
  openTestWorkspace,
  temporaryDirectory,
  releasedSession,
} from '../testing/temp-workspace.ts';
import { loadSessionKey } from './session-key.ts';
import type { SessionKey } from './session-key.ts';

const FIELDS = { version: 1, target_file: 'a.txt' };

/** A signed text, as it is stored. */
function signedBy(key: SessionKey | null): string {
  return JSON.stringify({ ...FIELDS, mac: key?.sign(FIELDS) });
}

async function expectSameKey(directory: string): Promise<void> {
  const [one, other] = [await loadSessionKey(directory), await loadSessionKey(directory)];
  expect(one).toMatchObject({ problem: null });
  expect(other?.isOwn(signedBy(one))).toBe(true);
  expect(one?.isOwn(signedBy(other))).toBe(true);
  const stranger = await loadSessionKey(await temporaryDirectory());
  expect(one?.isOwn(signedBy(stranger))).toBe(false);
}

const KEY = `${'0123456789abcdef'.repeat(4)}\n`;

describe('a key', () => {
  it.each([
    ['an empty file', (path: string): void => writeFileSync(path, '')],
    ['half a key', (path: string): void => writeFileSync(path, KEY.slice(0, 20))],
    ['another text', (path: string): void => writeFileSync(path, 'not a key\n'.repeat(300))],
    ['a directory', (path: string): void => mkdirSync(path)],
    ['a link to nowhere', (path: string): void => symlinkSync('nowhere', path)],
    ['a pipe', (path: string): void => void spawnSync('mkfifo', [path])],
  ])('is made although %s has its name, which stays', async (_what, put) => {
    const directory = await temporaryDirectory();
    put(join(directory, 'session.key'));
    await expectSameKey(directory);
    expect(readdirSync(directory).toSorted()).toEqual(['session.2.key', 'session.key']);
  });

  it('stays the same one when another turns up', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'session.key');
    writeFileSync(path, '');
    const second = await loadSessionKey(directory);
    writeFileSync(path, KEY);
    const both = await loadSessionKey(directory);
    expect(both?.isOwn(signedBy(second))).toBe(true);
    await expectSameKey(directory);
  });

  it('is one for all who need the first one at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const directory = join(await temporaryDirectory(), 'keys');
      const keys = await Promise.all(Array.from({ length: 6 }, () => loadSessionKey(directory)));
      for (const key of keys) expect(key?.isOwn(signedBy(keys[0] ?? null))).toBe(true);
      expect(readdirSync(directory)).toEqual(['session.key']);
    }
  });

  it('is whole or not there, wherever the process that makes it dies', async () => {
    const disk = await interceptDisk();
    onTestFinished(() => disk.restore());
    let died = 0;
    for (let last = 0; ; last += 1) {
      const directory = join(await temporaryDirectory(), 'keys');
      let calls = 0;
      disk.use(({ name }) => {
        if (!CHANGING_CALLS.has(name)) return null;
        calls += 1;
        return calls > last ? { kind: 'error', code: 'EIO' } : null;
      });
      await loadSessionKey(directory);
      disk.use(null);
      const names = await readdir(directory).catch(() => []);
      for (const name of names.filter((each) => each.endsWith('.key'))) {
        expect(await readFile(join(directory, name), 'utf8')).toHaveLength(65);
      }
      await expectSameKey(directory);
      expect(existsSync(join(directory, 'session.2.key'))).toBe(false);
      if (calls <= last) break;
      died += 1;
    }
    expect(died).toBeGreaterThan(5);
  });

  it('is made without links too', async () => {
    const directory = await temporaryDirectory();
    const disk = await interceptDisk();
    onTestFinished(() => disk.restore());
    disk.use(({ name }) => (name === 'link' ? { kind: 'error', code: 'EPERM' } : null));
    await expectSameKey(directory);
    expect(readdirSync(directory)).toEqual(['session.key']);
  });
});

describe('where no key can be kept', () => {
  it.each(['/proc/nope', '/dev/null/keys'])('one of this process stands in: %s', async (place) => {
    const one = await loadSessionKey(place);
    const other = await loadSessionKey(place);
    expect(one?.problem).not.toBeNull();
    expect(one?.isOwn(signedBy(one))).toBe(true);
    expect(one?.isOwn(signedBy(other))).toBe(false);
    expect(one?.isOwn(JSON.stringify(FIELDS))).toBe(false);
  });

  it('nothing of an earlier process is recovered or taken back, and it is told why', async () => {
    const userKeyDirectory = '/dev/null/keys';
    const { workspace, again } = await openTestWorkspace({ userKeyDirectory });
    const handle = await releasedSession(workspace, 'a.txt', 'text\n');
    const expected = await workspace.checkTarget('b.txt', 'create');
    const { backup_id: id = '' } = await workspace.commit(commitRequest('create', expected, 'b'));
    const later = await again();
    expect(await later.sessions.list()).toMatchObject([{ status: 'foreign', recoverable: false }]);
    await expect(later.sessions.claim(handle.id)).rejects.toMatchObject({
      code: 'SESSION_FOREIGN',
      message: expect.stringContaining('no key could be stored in /dev/null/keys (ENOTDIR)'),
    });
    await expect(later.undo({ id })).rejects.toMatchObject({
      code: 'BACKUP_FOREIGN',
      message: expect.stringContaining('no key could be stored in /dev/null/keys (ENOTDIR)'),
    });
    // What this process made is its own.
    expect((await workspace.undo({ id })).files).toMatchObject([{ outcome: 'removed' }]);
  });

  it('also where the disk refuses to read one that is there, which is not replaced', async () => {
    const directory = await temporaryDirectory();
    writeFileSync(join(directory, 'session.key'), KEY);
    const known = await loadSessionKey(directory);
    const disk = await interceptDisk();
    onTestFinished(() => disk.restore());
    disk.use(({ name }) => (name === 'open' ? { kind: 'error', code: 'EIO' } : null));
    const key = await loadSessionKey(directory);
    disk.use(null);
    expect(key?.problem).toContain('EIO');
    expect(key?.isOwn(signedBy(known))).toBe(false);
    expect(readdirSync(directory)).toEqual(['session.key']);
    expect((await loadSessionKey(directory))?.isOwn(signedBy(known))).toBe(true);
  });
});

/** A repository with the traces of a plan that a process did not finish, and with the bytes to put back. */
async function plantedRollback(): Promise<string> {
  const root = await temporaryDirectory();
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const [good, evil] = ['echo good\n', 'echo evil\n'];
  const plan = join(root, '.orion/plans', randomUUID());
  const id = '20250101T000000000Z-deadbeef';
  const backup = join(root, '.orion/backups', id);
  for (const directory of [plan, backup]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(root, 'run.sh'), good);
  await chmod(join(root, 'run.sh'), 0o755);
  writeFileSync(join(backup, 'content'), evil);
  const manifest = {
    version: 1,
    id,
    path: 'run.sh',
    operation: 'overwrite',
    created_at: new Date().toISOString(),
    before: { sha256: hash(evil), bytes: evil.length, mode: '0755' },
    after: { sha256: hash(good) },
  };
  writeFileSync(join(backup, 'manifest.json'), JSON.stringify(manifest));
  const files = [
    { path: 'run.sh', before: hash(evil), after: hash(good), backup_id: id },
    { path: 'none', before: null, after: hash('never'), backup_id: null },
  ];
  const owner = {
    version: 1,
    pid: 1,
    host: 'elsewhere',
    pid_namespace: '',
    process_started_at: 'long ago',
    token: 'a'.repeat(32),
    heartbeat_at: new Date(0).toISOString(),
  };
  const journal = { ...owner, atomic: true, files };
  writeFileSync(join(plan, 'journal.json'), JSON.stringify(journal));
  return root;
}

describe('a plan to be taken back that came with a repository', () => {
  it.each([
    ['a key', async () => temporaryDirectory()],
    [
      'an empty key file',
      async (): Promise<string> => {
        const directory = await temporaryDirectory();
        writeFileSync(join(directory, 'session.key'), '');
        return directory;
      },
    ],
    ['no place for a key', async () => '/proc/nope'],
    ['no folder of the user', async () => undefined],
  ])('changes nothing: %s', async (_what, keys) => {
    const root = await plantedRollback();
    const userKeyDirectory = await keys();
    const { workspace, events } = await openTestWorkspace({
      root,
      ...(userKeyDirectory === undefined ? {} : { userKeyDirectory }),
    });
    await workspace.sessions.housekeep();
    await workspace.sessions.housekeep();
    expect(await readFile(join(root, 'run.sh'), 'utf8')).toBe('echo good\n');
    expect(events).toContainEqual({
      type: 'plan_file_left',
      details: { plan_id: expect.any(String), path: 'run.sh', code: 'BACKUP_FOREIGN' },
    });
  });
});

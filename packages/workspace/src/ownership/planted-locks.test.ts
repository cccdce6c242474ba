/** Hazard: a lock that came with a folder, of a host that nobody knows and a time that has not come, holds a target for ever. */
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  commitRequest,
  metadataFor,
  openTestWorkspace,
  beginSession,
} from '../testing/temp-workspace.ts';
import type { TestWorkspace } from '../testing/temp-workspace.ts';

const HOUR = 60 * 60 * 1000;
const SESSION = '00000000-0000-4000-8000-000000000000';
const IN_2099 = '2099-01-01T00:00:00.000Z';

const foreign = (heartbeat: string): object => ({
  version: 1,
  pid: 1,
  host: 'elsewhere',
  pid_namespace: 'pid:[1]',
  process_started_at: 'boot:1',
  token: 'a'.repeat(32),
  heartbeat_at: heartbeat,
  session_id: SESSION,
});

type Planted = TestWorkspace & {
  readonly locks: string;
  readonly lock: string;
  /** The workspace as of so many milliseconds later, by the file system's clock. */
  readonly later: (milliseconds: number) => Promise<TestWorkspace['workspace']>;
};

async function withLock(content: string | null): Promise<Planted> {
  const test = await openTestWorkspace();
  const locks = join(test.root, '.orion', 'locks');
  await mkdir(locks, { recursive: true });
  const name = createHash('sha256').update(join(test.root, 'a.txt')).digest('hex');
  const lock = join(locks, name);
  if (content !== null) await writeFile(lock, content);
  return {
    ...test,
    locks,
    lock,
    later: (milliseconds) =>
      test.again({ fileSystemNow: async () => (await lstat(lock)).ctimeMs + milliseconds }),
  };
}

async function begins(workspace: TestWorkspace['workspace']): Promise<string> {
  return codeOf(
    metadataFor(workspace, 'a.txt').then((metadata) => workspace.sessions.begin(metadata)),
  );
}

async function plants(test: Planted, lease: object): Promise<void> {
  const directory = join(test.root, '.orion', 'logs', 'write_sessions', SESSION);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'lease.json'), JSON.stringify(lease));
}

describe('a heartbeat in 2099', () => {
  it('in the lock: the target can be written', async () => {
    const test = await withLock(JSON.stringify(foreign(IN_2099)));
    expect(await begins(test.workspace)).toBe('no error');
  });

  it('in the lock and in the lease of its session', async () => {
    const test = await withLock(JSON.stringify(foreign(IN_2099)));
    await plants(test, foreign(IN_2099));
    expect(await begins(test.workspace)).toBe('no error');
  });

  it('for a plan and an undo as well', async () => {
    const test = await withLock(JSON.stringify(foreign(IN_2099)));
    const { journal: _journal, ...change } = commitRequest(
      'create',
      await test.workspace.checkTarget('a.txt', 'create'),
      'new\n',
    );
    const [outcome] = await test.workspace.commitPlan({
      planId: SESSION,
      changes: [change],
      siblingBackups: false,
      atomic: true,
    });
    expect(outcome?.kind).toBe('done');
    await writeFile(test.lock, JSON.stringify(foreign(IN_2099)));
    expect((await test.workspace.undo({})).files).toHaveLength(1);
  });

  it('a file of that time that is no record', async () => {
    const test = await withLock('half of a rec');
    const time = new Date(IN_2099);
    await utimes(test.lock, time, time);
    expect(await begins(test.workspace)).toBe('no error');
  });
});

describe('a fresh heartbeat of another host', () => {
  const fresh = (test: TestWorkspace): string =>
    JSON.stringify(foreign(new Date(test.clock.now() + 30_000).toISOString()));

  it('holds the target while the file has changed within the hour', async () => {
    const test = await withLock(null);
    await writeFile(test.lock, fresh(test));
    expect(await begins(test.workspace)).toBe('TARGET_LOCKED');
    const soon = await test.later(HOUR - 1);
    expect(await begins(soon)).toBe('TARGET_LOCKED');
    expect((await soon.sessions.clean({ all: true })).locks).toBe(0);
  });

  it('holds it no longer than an hour without a change, whatever time the file claims', async () => {
    const test = await withLock(null);
    await writeFile(test.lock, fresh(test));
    const time = new Date(IN_2099);
    await utimes(test.lock, time, time);
    expect(await begins(await test.later(HOUR + 1000))).toBe('no error');
  });

  it('holds it while the lease of its session beats', async () => {
    const test = await withLock(null);
    await writeFile(test.lock, fresh(test));
    const old = await test.later(HOUR + 1000);
    await plants(test, { ...JSON.parse(fresh(test)) });
    const directory = join(test.root, '.orion', 'logs', 'write_sessions', SESSION);
    const beats = await test.again({
      fileSystemNow: async () => (await lstat(join(directory, 'lease.json'))).ctimeMs + HOUR - 1,
    });
    expect(await begins(beats)).toBe('TARGET_LOCKED');
    expect(await begins(old)).toBe('no error');
  });

  it('clean-sessions --all removes a stale one, and what is no lock at all', async () => {
    const test = await withLock(null);
    await writeFile(test.lock, fresh(test));
    await mkdir(join(test.locks, 'b'.repeat(64)));
    await symlink('/etc/passwd', join(test.locks, 'c'.repeat(64)));
    const later = await test.later(HOUR + 1000);
    expect((await later.sessions.clean({ all: false })).locks).toBe(0);
    expect((await later.sessions.clean({ all: true })).locks).toBe(3);
    expect(await readdir(test.locks)).toEqual([]);
  });

  it('a lock of this host is judged by its process alone', async () => {
    const test = await withLock(null);
    const handle = await beginSession(test.workspace);
    const later = await test.later(HOUR + 1000);
    expect(await begins(later)).toBe('TARGET_LOCKED');
    expect((await later.sessions.clean({ all: true })).locks).toBe(0);
    await handle.release();
  });
});

describe('in the place of a lock (issue 12)', () => {
  it.each([
    ['a folder', (path: string) => mkdir(path)],
    [
      'a folder with something in it',
      (path: string) => mkdir(join(path, 'x'), { recursive: true }),
    ],
    ['a link to nothing', (path: string) => symlink('/nothing', path)],
    ['a link to a folder', (path: string) => symlink('/', path)],
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path])],
  ])('%s is named, with what removes it', async (_, plant) => {
    const test = await withLock(null);
    await plant(test.lock);
    await expect(
      metadataFor(test.workspace, 'a.txt').then((metadata) =>
        test.workspace.sessions.begin(metadata),
      ),
    ).rejects.toMatchObject({
      code: 'TARGET_LOCKED',
      message: `The lock of "a.txt" cannot be taken. Something else has its name: ${test.lock}`,
      hint: 'Remove it. Cleaning all sessions also removes it, together with every saved session.',
    });
    expect((await test.workspace.sessions.clean({ all: true })).locks).toBe(1);
    expect(await begins(test.workspace)).toBe('no error');
  });
});

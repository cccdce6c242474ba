import { readdirSync, readFileSync } from 'node:fs';
import {
  chmod,
  mkdir,
  readFile,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { parseFields } from '@orion/contracts';
import type { PageAccess } from '@orion/contracts';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { describe, expect, it, vi } from 'vitest';

import { ownIdentity } from './ownership/process-identity.ts';
import { codeOf, openTestWorkspace, temporaryDirectory } from './testing/temp-workspace.ts';

/** A workspace whose user has a key. */
async function openFiles() {
  const test = await openTestWorkspace({ userKeyDirectory: await temporaryDirectory() });
  const folder = join(test.root, '.orion/server');
  return { ...test, folder, file: join(folder, 'token'), address: join(folder, 'server.json') };
}

it('a trial of the disk leaves nothing, and fails as a save would', async () => {
  const { workspace, folder } = await openFiles();
  await workspace.tryDisk();
  expect(await readdir(folder)).toEqual([]);
  const disk = await interceptDisk();
  try {
    disk.use(({ name }) => (name === 'write' ? { kind: 'short', bytes: 60_000 } : null));
    await workspace.tryDisk();
    let left = 60_000;
    disk.use(({ name }) => {
      if (name !== 'write') return null;
      if (left === 0) return { kind: 'error', code: 'ENOSPC' };
      left = 0;
      return { kind: 'short', bytes: 60_000 };
    });
    expect(await codeOf(workspace.tryDisk())).toBe('DISK_FULL');
  } finally {
    disk.restore();
  }
  expect(await readdir(folder)).toEqual([]);
});

describe('the token of the server (R286)', () => {
  it('is made once, for its user alone, and kept', async () => {
    const { workspace, again, file, folder } = await openFiles();
    const made = await workspace.keepServerToken();
    expect(made).toEqual({
      token: expect.stringMatching(/^[\da-f]{128}$/u),
      path: file,
      isNew: true,
    });
    expect(await readFile(file, 'utf8')).toBe(`${made.token}\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await (await again()).keepServerToken()).toEqual({ ...made, isNew: false });
  });

  it('is the same for processes that make it at the same time', async () => {
    const { workspace, again } = await openFiles();
    const all = await Promise.all(
      [workspace, await again(), await again()].map((each) => each.keepServerToken()),
    );
    expect(new Set(all.map(({ token }) => token)).size).toBe(1);
    expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
  });

  it('differs from the next one in every random part', async () => {
    const tokens = await Promise.all(
      [1, 2].map(async () => (await (await openFiles()).workspace.keepServerToken()).token),
    );
    expect(tokens[0]?.slice(0, 64)).not.toBe(tokens[1]?.slice(0, 64));
  });

  it('is replaced if it came with the folder', async () => {
    const attacker = await openFiles();
    const { token: known } = await attacker.workspace.keepServerToken();
    for (const planted of [known, 'a'.repeat(128), 'secret', '']) {
      const { workspace, folder, file } = await openFiles();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(file, `${planted}\n`, { mode: 0o600 });
      const { token, isNew } = await workspace.keepServerToken();
      expect(isNew).toBe(true);
      expect(token).not.toBe(planted);
      expect(await readFile(file, 'utf8')).toBe(`${token}\n`);
    }
  });

  it('is replaced if others could read it', async () => {
    const { workspace, again, file } = await openFiles();
    const { token } = await workspace.keepServerToken();
    await chmod(file, 0o640);
    const next = await (await again()).keepServerToken();
    expect(next).toMatchObject({ isNew: true });
    expect(next.token).not.toBe(token);
  });

  it('is never read or written through a link', async () => {
    const elsewhere = await temporaryDirectory();
    const { workspace, folder, file } = await openFiles();
    await writeFile(join(elsewhere, 'token'), 'mine');
    await mkdir(folder, { recursive: true });
    await symlink(join(elsewhere, 'token'), file);
    expect((await workspace.keepServerToken()).isNew).toBe(true);
    expect(await readFile(join(elsewhere, 'token'), 'utf8')).toBe('mine');

    const linked = await openFiles();
    await mkdir(join(linked.root, '.orion'), { recursive: true });
    await symlink(elsewhere, linked.folder);
    expect(await codeOf(linked.workspace.keepServerToken())).toBe('STORE_FOREIGN');
    expect(await readdir(elsewhere)).toEqual(['token']);
  });

  it('says what is in its way', async () => {
    const { workspace, file } = await openFiles();
    await mkdir(file, { recursive: true });
    await expect(workspace.keepServerToken()).rejects.toMatchObject({
      code: 'WRITE_FAILED',
      message: expect.stringContaining(file),
    });
  });
});

describe('the address of a running server (R286)', () => {
  it('is there, for its user alone, until its process withdraws it', async () => {
    const { workspace, address } = await openFiles();
    const own = { url: 'http://127.0.0.1:4310', pid: 7 };
    await workspace.announceServer(own);
    expect(JSON.parse(await readFile(address, 'utf8'))).toEqual(own);
    expect((await stat(address)).mode & 0o777).toBe(0o600);
    const next = { ...own, pid: 8 };
    await workspace.announceServer(next);
    await workspace.withdrawServer(own);
    expect(JSON.parse(await readFile(address, 'utf8'))).toEqual(next);
    await workspace.withdrawServer({ ...next, url: 'http://127.0.0.1:1' });
    expect(JSON.parse(await readFile(address, 'utf8'))).toEqual(next);
    await workspace.withdrawServer(next);
    await expect(stat(address)).rejects.toMatchObject({ code: 'ENOENT' });
    await workspace.withdrawServer(next);
  });

  it('takes away what a process left half made, and nothing that another one is making', async () => {
    const { workspace, folder } = await openFiles();
    const own = { url: 'http://127.0.0.1:4310', pid: 7 };
    await workspace.announceServer(own);
    const old = ['.server.json.0123456789ab.tmp', '.token.ba9876543210.tmp'];
    const kept = ['.token.0123456789ab.tmp', '.other.0123456789ab.tmp', 'notes.tmp'];
    for (const name of [...old, ...kept]) await writeFile(join(folder, name), '');
    const hourAgo = Date.now() / 1000 - 3600;
    for (const name of [...old, ...kept.slice(1)])
      await utimes(join(folder, name), hourAgo, hourAgo);
    await workspace.announceServer(own);
    expect((await readdir(folder)).toSorted()).toEqual(['server.json', ...kept].toSorted());
  });
});

describe('the log-ins of the page', () => {
  it('are changed by one process after the other, also after one that was killed', async () => {
    const { workspace, again, root, clock } = await openFiles();
    const locks = join(root, '.orion/locks');
    const killed = { pid: 2 ** 30, host: hostname(), pidNamespace: '', startedAt: 'then' };
    const pidNamespace = await readlink('/proc/self/ns/pid').catch(() => '');
    const other = await again({ identity: () => Promise.resolve({ ...killed, pidNamespace }) });
    let lock = { path: '', text: '' };
    await other.updatePageAccess((access) => {
      const path = join(locks, readdirSync(locks)[0] ?? '');
      lock = { path, text: readFileSync(path, 'utf8') };
      return access;
    });
    await writeFile(lock.path, lock.text);
    await workspace.updatePageAccess(() => ({ generation: 1, ended: {} }));

    const { pid, startedAt } = await ownIdentity();
    const running = { ...parseFields(lock.text), pid, process_started_at: startedAt };
    await writeFile(lock.path, JSON.stringify(running));
    const next: PageAccess = { generation: 2, ended: {} };
    const refused = codeOf(workspace.updatePageAccess(() => next));
    await vi.waitUntil(() => clock.pending() > 0);
    await clock.advance(10_000);
    expect(await refused).toBe('TARGET_LOCKED');
    const waiting = workspace.updatePageAccess(({ generation }) => ({
      ...next,
      generation: generation + 1,
    }));
    await vi.waitUntil(() => clock.pending() > 0);
    await rm(lock.path);
    await clock.advance(10);
    await waiting;
    expect(await workspace.readPageAccess()).toMatchObject(next);
    expect(await readdir(locks)).toEqual([]);
  });

  it('are stored for their user alone, and read again', async () => {
    const { workspace, again, folder } = await openFiles();
    expect(await workspace.readPageAccess()).toEqual({ generation: 0, ended: {} });
    await workspace.updatePageAccess(() => ({ generation: 3, ended: { a: 7 } }));
    const stored = { generation: 3, ended: { a: 7 }, used: {} };
    expect(await (await again()).readPageAccess()).toEqual(stored);
    expect((await stat(join(folder, 'page.json'))).mode & 0o777).toBe(0o600);
    const used = { generation: 3, ended: {}, used: { b: 8 } };
    await workspace.updatePageAccess(() => used);
    expect(await workspace.readPageAccess()).toEqual(used);
  });

  it('are all ended by more of them than a reader takes', async () => {
    const { workspace } = await openFiles();
    const many = Array.from({ length: 30_000 }, (_, index) => [`${index}`.padStart(32, '0'), 7]);
    const ended = Object.fromEntries(many) as Record<string, number>;
    await workspace.updatePageAccess(() => ({ generation: 3, ended }));
    expect(await workspace.readPageAccess()).toEqual({ generation: 4, ended: {}, used: {} });
  });

  it.each([
    '',
    '[]',
    '{"generation":"1","ended":{}}',
    '{"generation":1}',
    '{"generation":1,"ended":null}',
    '{"generation":1,"ended":{"a":"7"}}',
    '{"generation":1,"ended":{},"used":[]}',
    `${'['.repeat(2_000)}`,
    ' '.repeat(1_048_577),
  ])('are all ended by a record that cannot be read: %#', async (text) => {
    const { workspace, again, folder } = await openFiles();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, 'page.json'), text);
    const found = await workspace.readPageAccess();
    expect(found).toEqual({ generation: expect.any(Number) as number, ended: {} });
    expect(found.generation).toBeGreaterThan(1e12);
    // Every process finds the same, and what is stored from then on counts.
    expect(await (await again()).readPageAccess()).toEqual(found);
    await workspace.updatePageAccess((stored) => ({ ...stored, ended: { a: 7 } }));
    const stored = { generation: found.generation, ended: { a: 7 } };
    expect(await (await again()).readPageAccess()).toMatchObject(stored);
  });
});

it('finds the server that said where it listens', async () => {
  const { workspace } = await openFiles();
  expect(await workspace.findServer()).toBeNull();
  const address = { url: 'http://127.0.0.1:4310', pid: 12 };
  await workspace.announceServer(address);
  expect(await workspace.findServer()).toEqual(address);
});

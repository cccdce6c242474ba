/** What happens to a session when calls of the system fail. */
import { chmod, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  codeOf,
  eventually,
  jsonAt,
  openTestWorkspace,
  RECORD,
  temporaryDirectory,
  textOf,
  writingRecord,
  beginSession,
  TURN,
} from '../testing/temp-workspace.ts';

type Call = 'datasync' | 'write' | 'sync';

function systemError(code: string, errno = -1): Error {
  return Object.assign(new Error(`${code}: injected`), { code, errno });
}

/** Lets one call of file handles fail `times`, `after` it has worked, while the returned function is not called. */
async function failing(
  call: Call,
  error: Error,
  times = Number.POSITIVE_INFINITY,
  after = 0,
): Promise<() => void> {
  const probe = await open(join(await temporaryDirectory(), 'probe'), 'w');
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  let calls = 0;
  const original = Reflect.get(prototype, call) as (...args: unknown[]) => Promise<unknown>;
  const spy = vi.spyOn(prototype, call).mockImplementation(function (
    this: FileHandle,
    ...args: unknown[]
  ) {
    calls += 1;
    const fails = calls > after && calls <= after + times;
    return (fails ? Promise.reject(error) : original.apply(this, args)) as never;
  });
  const restore = (): void => spy.mockRestore();
  onTestFinished(restore);
  return restore;
}

it('a recovery keeps undecided text until the name of its copy lasts', async () => {
  const { workspace } = await openTestWorkspace();
  const handle = await beginSession(workspace);
  handle.appendPending('unsure');
  await handle.save(RECORD);
  await handle.release();
  const probe = await open(handle.directory);
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const original = Reflect.get(prototype, 'sync') as () => Promise<void>;
  const names: string[][] = [];
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    const isDirectory = (await this.stat()).isDirectory();
    await original.apply(this);
    if (isDirectory) names.push(await readdir(handle.directory));
  });
  onTestFinished(() => spy.mockRestore());
  await workspace.sessions.claim(handle.id);
  const withCopy = names.filter((each) => each.includes('trailing.txt'));
  expect(withCopy[0]).toContain('pending.txt');
  expect(await readdir(handle.directory)).not.toContain('pending.txt');
});

describe('a session whose disk fails', () => {
  it.each(['discard', 'release'] as const)(
    'when it is left by %s while the disk is full: it has no owner, and the next claim has all that was saved',
    async (leave) => {
      const { workspace } = await openTestWorkspace();
      const handle = await beginSession(workspace);
      handle.append('saved');
      await handle.save(RECORD);
      const restore = await failing('write', systemError('ENOSPC'));
      await handle[leave]().catch(() => undefined);
      restore();
      const claimed = await workspace.sessions.claim(handle.id);
      expect(await textOf(claimed.handle.readContent())).toBe('saved');
    },
  );

  it('while it starts over: the old text is what a recovery finds until the new one is durable', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('first');
    await handle.save(RECORD);
    const restore = await failing('datasync', systemError('EIO'));
    await handle.startOver(RECORD);
    handle.append('second');
    expect(handle.persistence()).toBe('memory');
    expect(await textOf(handle.readContent())).toBe('second');
    expect(await jsonAt(join(handle.directory, 'state.json'))).toMatchObject({
      content_file: 'content.txt',
      buffer_size: 5,
    });
    expect(await readFile(join(handle.directory, 'content.txt'), 'utf8')).toBe('first');
    restore();
    expect(await handle.save(RECORD)).toEqual({ durableBytes: 6, persistence: 'disk' });
    const state = await jsonAt(join(handle.directory, 'state.json'));
    expect(await readFile(join(handle.directory, String(state['content_file'])), 'utf8')).toBe(
      'second',
    );
  });

  it('never trusts a file again after a failed fsync', async () => {
    const { workspace, events } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('one\n');
    await handle.save(RECORD);
    handle.append('two\n');
    const restore = await failing('datasync', systemError('EIO'), 1);
    expect(await codeOf(handle.save(RECORD))).toBe('WRITE_FAILED');
    expect(handle.persistence()).toBe('memory');
    handle.append('three\n');
    expect(await textOf(handle.readContent())).toBe('one\ntwo\nthree\n');
    restore();
    expect(await handle.save(RECORD)).toEqual({ durableBytes: 14, persistence: 'disk' });
    expect(handle.contentPath()).toBe(join(handle.directory, 'content.2.txt'));
    expect(await readFile(handle.contentPath(), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(await jsonAt(join(handle.directory, 'state.json'))).toMatchObject({
      content_file: 'content.2.txt',
      buffer_size: 14,
      line_count: 3,
    });
    expect(await readdir(handle.directory)).not.toContain('content.txt');
    expect(events.map((event) => event.type)).toEqual(['degraded', 'restored']);
    await handle.release();
    const claimed = await workspace.sessions.claim(handle.id);
    expect(await textOf(claimed.handle.readContent())).toBe('one\ntwo\nthree\n');
  });

  it('tries again with yet another file when the new one fails, too', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('one\n');
    await handle.save(RECORD);
    handle.append('two\n');
    const restore = await failing('datasync', systemError('EIO'), 3);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await codeOf(handle.save(RECORD))).toBe('WRITE_FAILED');
    }
    restore();
    await handle.save(RECORD);
    expect(await readFile(handle.contentPath(), 'utf8')).toBe('one\ntwo\n');
    expect(
      (await readdir(handle.directory)).filter((name) => name.startsWith('content')),
    ).toHaveLength(1);
  });

  it.each([
    ['the only one', {}],
    ['beside what is left of an older one', { 'trailing.txt': 'set' }],
    ['beside a newer one that was not complete', { 'trailing.3.txt': 'set', 'trailing.x.txt': '' }],
  ])(
    'text that was set aside outlives a failed fsync and a recovery: its file is %s',
    async (_case, beside) => {
      const { workspace } = await openTestWorkspace();
      const handle = await beginSession(workspace);
      await handle.save(RECORD);
      handle.setAside('set ');
      await handle.save(RECORD);
      handle.setAside('aside ');
      // The first one is that of the content.
      const restore = await failing('datasync', systemError('EIO'), 1, 1);
      expect(await codeOf(handle.save(RECORD))).toBe('WRITE_FAILED');
      restore();
      await handle.save(RECORD);
      await handle.release();
      const names = async (): Promise<readonly string[]> =>
        (await readdir(handle.directory)).filter((name) => /^trailing(\.\d)?\.txt$/u.test(name));
      expect(await names()).toEqual(['trailing.2.txt']);
      for (const [name, text] of Object.entries(beside)) {
        await writeFile(join(handle.directory, name), text);
      }
      const claimed = await workspace.sessions.claim(handle.id);
      expect(await names()).toEqual(['trailing.2.txt']);
      claimed.handle.setAside('more');
      const { trailing = '' } = await claimed.handle.remove();
      expect(await readFile(trailing, 'utf8')).toBe('set aside more');
    },
  );

  it.each([
    ['ENOSPC', -28, 'DISK_FULL'],
    ['UNKNOWN', -122, 'DISK_FULL'],
  ])('goes on at the durable offset of the same file after %s', async (code, errno, expected) => {
    const { workspace, clock, events } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('one\n');
    await handle.save(RECORD);
    const restore = await failing('write', systemError(code, errno));
    handle.append('two\n');
    await clock.advance(100);
    await eventually(() => handle.persistence() === 'memory');
    expect(events).toMatchObject([{ type: 'degraded', details: { code: expected } }]);
    handle.append('three\n');
    expect(await codeOf(handle.save(RECORD))).toBe(expected);
    restore();
    await handle.save(RECORD);
    expect(handle.persistence()).toBe('disk');
    expect(handle.contentPath()).toBe(join(handle.directory, 'content.txt'));
    expect(await readFile(handle.contentPath(), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  it('keeps its state when only state.json cannot be written', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('one\n');
    await handle.save(RECORD);
    const restore = await failing('sync', systemError('EROFS'));
    handle.append('two\n');
    expect(await codeOf(handle.save({ ...RECORD, idle_prompts: 1 }))).toBe('READ_ONLY');
    expect(await jsonAt(join(handle.directory, 'state.json'))).toMatchObject({ buffer_size: 4 });
    expect((await readdir(handle.directory)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    restore();
    await handle.save({ ...RECORD, idle_prompts: 1 });
    expect(await jsonAt(join(handle.directory, 'state.json'))).toMatchObject({
      buffer_size: 8,
      idle_prompts: 1,
    });
  });

  it('begins in memory without a usable disk, and moves there once there is one', async () => {
    const { root, workspace, events } = await openTestWorkspace();
    await writeFile(join(root, '.orion'), 'in the way');
    const handle = await beginSession(workspace);
    expect(handle.persistence()).toBe('memory');
    expect(events).toMatchObject([{ type: 'degraded' }]);
    handle.append('one\n');
    handle.setAside('aside');
    await handle.recordWriting(writingRecord('x', 't'));
    expect(await codeOf(handle.save(RECORD))).toBe('STORE_FOREIGN');
    expect(await textOf(handle.readContent())).toBe('one\n');
    expect(await codeOf(beginSession(workspace))).toBe('TARGET_LOCKED');
    await rm(join(root, '.orion'));
    expect(await handle.save(RECORD)).toEqual({ durableBytes: 4, persistence: 'disk' });
    expect(await readFile(handle.contentPath(), 'utf8')).toBe('one\n');
    expect(await readFile(join(handle.directory, 'trailing.txt'), 'utf8')).toBe('aside');
    expect((await workspace.sessions.list())[0]?.status).toBe('live');
  });

  it('removes a session that never reached the disk, but not text that was set aside', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, '.orion'), 'in the way');
    const one = await beginSession(workspace);
    expect(await one.remove()).toEqual({ warnings: [] });
    const two = await beginSession(workspace);
    two.setAside('text');
    expect((await two.remove()).warnings).toContain('trailing_not_moved');
    const three = await beginSession(workspace);
    await three.release();
    expect(await readFile(join(root, '.orion'), 'utf8')).toBe('in the way');
  });

  it('stores the newest turn once it can, not the one that it began with', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, '.orion'), 'in the way');
    const handle = await beginSession(workspace, 'a.txt', { ...TURN, callId: 'one' });
    await handle.saveTurn({ ...TURN, callId: 'two' });
    await rm(join(root, '.orion'));
    await handle.save(RECORD);
    expect(await jsonAt(join(handle.directory, 'turn.json'))).toMatchObject({ callId: 'two' });
  });

  it('records no commit of a session that another process has taken', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    const state = await readFile(join(handle.directory, 'state.json'), 'utf8');
    const lease = await jsonAt(join(handle.directory, 'lease.json'));
    const claim = join(handle.directory, `claim-${String(lease['token'])}`);
    await writeFile(claim, JSON.stringify({ ...lease, token: 'f'.repeat(32) }));
    for (let time = 0; time < 2; time += 1) {
      const recorded = handle.recordWriting(writingRecord('f'.repeat(64)));
      await expect(recorded).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    }
    expect(handle.lost.aborted).toBe(true);
    expect(await readFile(join(handle.directory, 'state.json'), 'utf8')).toBe(state);
  });

  it('makes its directory anew when somebody removes it', async () => {
    const { root, clock, workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('one\n');
    handle.setAside('aside');
    await handle.save(RECORD);
    await rm(join(root, '.orion'), { recursive: true });
    handle.append('two\n');
    await clock.advance(100);
    await eventually(() => handle.persistence() === 'memory');
    expect(await textOf(handle.readContent())).toBe('one\ntwo\n');
    await handle.save(RECORD);
    expect(await readFile(handle.contentPath(), 'utf8')).toBe('one\ntwo\n');
    expect(await readFile(join(handle.directory, 'trailing.txt'), 'utf8')).toBe('aside');
    expect(handle.lost.aborted).toBe(false);
    expect((await readdir(join(root, '.orion/locks'))).length).toBe(1);
    await handle.release();
    expect((await workspace.sessions.list())[0]).toMatchObject({ status: 'orphan', lines: 2 });
  });

  it('opens and reads a workspace that cannot be written', async () => {
    const { root, again } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'text\n');
    await mkdir(join(root, 'state'), { mode: 0o500 });
    const workspace = await again({ stateDirectory: join(root, 'state/inner/deeper') });
    expect((await workspace.readText('a.txt', { maxLines: 9, maxBytes: 99 })).content).toBe(
      'text\n',
    );
    expect(await workspace.sessions.list()).toEqual([]);
    await chmod(join(root, 'state'), 0o700);
  });

  it('refuses a state directory that leads elsewhere', async () => {
    const { root, workspace } = await openTestWorkspace();
    const outside = await temporaryDirectory();
    const { symlink } = await import('node:fs/promises');
    await symlink(outside, join(root, '.orion'));
    const handle = await beginSession(workspace);
    expect(handle.persistence()).toBe('memory');
    expect(await readdir(outside)).toEqual([]);
  });
});

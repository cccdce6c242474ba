import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionHandle, SessionRecord, TurnRecord, Workspace } from '@orion/contracts';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  eventually,
  jsonAt,
  metadataFor,
  openTestWorkspace,
  RECORD,
  sha256,
  textOf,
  writingRecord,
  beginSession,
  TURN,
} from '../testing/temp-workspace.ts';

const SESSIONS = '.orion/logs/write_sessions';

/** A session with three lines, of which so much is the file. */
async function begunWith(
  workspace: Workspace,
  bounds: Partial<SessionRecord>,
): Promise<{ readonly handle: SessionHandle; readonly id: string }> {
  const handle = await beginSession(workspace);
  handle.append('aaa\nbbb\nccc\n');
  await handle.save({ ...RECORD, ...bounds });
  return { handle, id: handle.id };
}

describe('a write session on disk', () => {
  it('is counted as it is saved, and as it is synced', async () => {
    const { workspace, clock } = await openTestWorkspace();
    const { sessions } = workspace;
    expect(sessions.countBytes()).toEqual({ saved: 0, synced: 0 });
    const handle = await beginSession(workspace);
    handle.append('one\ntwo\n');
    await clock.advance(100);
    await eventually(() => sessions.countBytes().saved === 8);
    expect(sessions.countBytes()).toEqual({ saved: 8, synced: 0 });
    await handle.save(RECORD);
    await handle.save(RECORD);
    expect(sessions.countBytes()).toEqual({ saved: 8, synced: 8 });
    const other = await beginSession(workspace, 'other.txt');
    other.append('ä');
    await other.save(RECORD);
    expect(sessions.countBytes()).toEqual({ saved: 10, synced: 10 });
  });

  it('lays its directory out as R048 says, privately and outside of git', async () => {
    const { root, workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace, 'docs/a.txt');
    expect(handle.persistence()).toBe('disk');
    expect(handle.directory).toBe(join(root, SESSIONS, handle.id));
    handle.append('one\ntwo\n');
    await handle.save(RECORD);
    const names = (await readdir(handle.directory)).toSorted();
    expect(names).toEqual(['content.txt', 'lease.json', 'metadata.json', 'state.json']);
    for (const name of names) {
      expect(statSync(join(handle.directory, name)).mode & 0o777).toBe(0o600);
    }
    for (const path of ['.orion', '.orion/logs', SESSIONS, '.orion/locks']) {
      expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
    }
    expect(await readFile(join(root, '.orion/.gitignore'), 'utf8')).toBe('*\n');
    expect(await jsonAt(join(handle.directory, 'state.json'))).toMatchObject({
      state: RECORD.state,
      buffer_size: 8,
      line_count: 2,
      content_file: 'content.txt',
    });
    expect(await jsonAt(join(handle.directory, 'metadata.json'))).toMatchObject({
      intent: 'a test',
      target_file: 'docs/a.txt',
      operation: 'create',
    });
  });

  it('has its turn as soon as it is there, so that a kill leaves both or neither', async () => {
    const { workspace } = await openTestWorkspace();
    const turn: TurnRecord = { ...TURN, messages: [{ role: 'user', content: 'write it' }] };
    const handle = await beginSession(workspace, 'a.txt', turn);
    expect(await jsonAt(join(handle.directory, 'turn.json'))).toEqual(turn);
    await handle.release();
    expect((await workspace.sessions.claim(handle.id)).turn).toEqual(turn);
  });

  it('has a state that counts nothing yet, so that a kill before the first save is no damage (R071)', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    const path = join(handle.directory, 'state.json');
    const begun = await readFile(path, 'utf8');
    expect(JSON.parse(begun)).toEqual({
      version: 1,
      buffer_size: 0,
      line_count: 0,
      last_save: expect.any(String),
      content_file: 'content.txt',
    });
    handle.append('one\ntwo\n');
    await handle.release();
    await writeFile(path, begun);
    const claimed = await workspace.sessions.claim(handle.id);
    expect(claimed.notes).toEqual([]);
    expect(claimed.record).toBeNull();
    expect(await textOf(claimed.handle.readContent())).toBe('one\ntwo\n');
  });

  it('leaves no trace in a workspace that is only looked at', async () => {
    const { root, workspace } = await openTestWorkspace();
    await workspace.checkTarget('a.txt', 'create');
    await workspace.sessions.list();
    await workspace.sessions.housekeep();
    await workspace.listFiles(10);
    expect(existsSync(join(root, '.orion'))).toBe(false);
  });

  it('hands text to the system within 100 ms without a save', async () => {
    const { clock, workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('prompt');
    expect(await readFile(handle.contentPath(), 'utf8')).toBe('');
    await clock.advance(100);
    await eventually(async () => (await readFile(handle.contentPath(), 'utf8')) === 'prompt');
  });

  it('hands text to the system at 64 KiB without waiting for the time', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    for (let index = 0; index < 64; index += 1) handle.append('x'.repeat(1024));
    await eventually(() => statSync(handle.contentPath()).size >= 43_000);
  });

  it('reads its content from disk and memory, whatever is saved', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('saved ');
    await handle.save(RECORD);
    handle.append('and not');
    expect(handle.bytes()).toBe(13);
    expect(await textOf(handle.readContent())).toBe('saved and not');
    expect(await textOf(handle.readContent(3, 9))).toBe('ed and');
    expect(await textOf(handle.readContent(8))).toBe('d not');
  });

  it('shares one save among those that come while one is under way', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('a\n');
    const first = handle.save(RECORD);
    handle.append('b\n');
    const second = handle.save({ ...RECORD, idle_prompts: 1 });
    const third = handle.save({ ...RECORD, idle_prompts: 2 });
    expect(second).toBe(third);
    await Promise.all([first, second]);
    expect(await jsonAt(join(handle.directory, 'state.json'))).toMatchObject({
      idle_prompts: 2,
      buffer_size: 4,
    });
  });

  it('A4: keeps 30 rows and says so', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace, 'rows.txt');
    for (let row = 1; row <= 30; row += 1) handle.append(`row ${String(row).padStart(2, '0')}\n`);
    await handle.save(RECORD);
    const content = await readFile(handle.contentPath());
    expect(sha256(content)).toBe(
      'd306b0c6f46fd30c1552d63132ba516f09496f26f6649f6ef1171e4f2db21cdb',
    );
    expect(await jsonAt(join(handle.directory, 'state.json'))).toMatchObject({
      buffer_size: 210,
      line_count: 30,
    });
  });

  it('is gone after the commit, and its lock with it', async () => {
    const { root, workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('text');
    await handle.save(RECORD);
    expect(await handle.remove()).toEqual({ warnings: [] });
    expect(await readdir(join(root, SESSIONS))).toEqual([]);
    expect(await readdir(join(root, '.orion/locks'))).toEqual([]);
    const next = await beginSession(workspace);
    expect(next.persistence()).toBe('disk');
  });

  it('keeps text that was set aside or never decided in the attic', async () => {
    const { root, workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('text');
    handle.setAside('aside;');
    handle.appendPending('undecided');
    const { trailing } = await handle.remove();
    expect(trailing).toBe(join(root, '.orion/attic', handle.id, 'trailing.txt'));
    expect(await readFile(trailing ?? '', 'utf8')).toBe('aside;undecided');
    expect(existsSync(handle.directory)).toBe(false);
  });

  it.each([
    [{ content_start: 4 }, 'aaa\n'],
    [{ content_end: 8 }, 'ccc\n'],
    [{ content_start: 4, content_end: 8 }, 'aaa\nccc\n'],
    [{ content_start: 4, content_end: 12 }, 'aaa\n'],
  ])(
    'R275: keeps the content outside of %j there too, once, although the removal is cut short',
    async (bounds, outside) => {
      const { root, workspace, again } = await openTestWorkspace();
      const { handle, id } = await begunWith(workspace, bounds);
      handle.setAside('aside');
      // As after a kill between the two: the text is in the attic, and the session is still there.
      const inTheWay = join(root, SESSIONS, `.removed-${id}`);
      await mkdir(join(inTheWay, 'of somebody'), { recursive: true });
      const { trailing = '', warnings } = await handle.remove();
      expect(warnings).toEqual(['session_directory_left']);
      expect(await readFile(trailing, 'utf8')).toBe(`${outside}aside`);

      await rm(inTheWay, { recursive: true });
      const claimed = await (await again()).sessions.claim(id);
      expect(await claimed.handle.remove()).toEqual({ trailing, warnings: [] });
      expect(await readFile(trailing, 'utf8')).toBe(`${outside}aside`);
      expect(existsSync(handle.directory)).toBe(false);
    },
  );

  it('keeps nothing where all of the content is the file', async () => {
    const { root, workspace } = await openTestWorkspace();
    const { handle } = await begunWith(workspace, { content_end: 12 });
    expect(await handle.remove()).toEqual({ warnings: [] });
    expect(existsSync(join(root, '.orion/attic'))).toBe(false);
  });

  it('starts over in another file, and keeps what was set aside', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('first');
    await handle.save(RECORD);
    await handle.startOver(RECORD);
    expect(handle.contentPath()).toBe(join(handle.directory, 'content.2.txt'));
    expect(existsSync(join(handle.directory, 'content.txt'))).toBe(false);
    const state: unknown = JSON.parse(await readFile(join(handle.directory, 'state.json'), 'utf8'));
    expect(state).toMatchObject({ content_file: 'content.2.txt', buffer_size: 0, line_count: 0 });
    expect(await readFile(join(handle.directory, 'trailing.txt'), 'utf8')).toBe('first');
    handle.append('second');
    expect(await handle.save(RECORD)).toEqual({ durableBytes: 6, persistence: 'disk' });
    expect(await readFile(handle.contentPath(), 'utf8')).toBe('second');
  });

  it('gives undecided text back, and forgets it when it was decided', async () => {
    const { clock, workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('content');
    handle.appendPending('may');
    handle.appendPending('be \ud83d');
    handle.appendPending('\ude00');
    await clock.advance(100);
    const path = join(handle.directory, 'pending.txt');
    await eventually(() => existsSync(path) && statSync(path).size > 10);
    expect(await readFile(path, 'utf8')).toBe('follows 7\nmaybe 😀');
    let text = '';
    for await (const piece of handle.readPending()) text += piece;
    expect(text).toBe('maybe 😀');
    handle.clearPending();
    await handle.save(RECORD);
    expect(await readFile(path, 'utf8')).toBe('');
    for await (const piece of handle.readPending()) expect(piece).toBe('nothing');
    handle.appendPending('again');
    await handle.save(RECORD);
    expect(await readFile(path, 'utf8')).toBe('follows 7\nagain');
  });

  it('refuses ids that are no lower-case UUID v4 before touching the disk', async () => {
    const { root, workspace } = await openTestWorkspace();
    for (const id of ['', '..', 'x/../y', '00000000-0000-1000-8000-000000000000', 'A'.repeat(36)]) {
      expect(await codeOf(workspace.sessions.claim(id))).toBe('SESSION_NOT_FOUND');
      expect(await codeOf(workspace.sessions.discard(id))).toBe('SESSION_NOT_FOUND');
    }
    expect(existsSync(join(root, '.orion'))).toBe(false);
  });
});

describe('recovery', () => {
  it('goes on where the session was released', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('one\n');
    await handle.save({ ...RECORD, idle_prompts: 2 });
    await handle.saveTurn({ ...TURN, messages: [{ role: 'user', content: 'hello' }] });
    handle.append('two\n');
    await handle.release();
    const [listing] = await workspace.sessions.list();
    expect(listing).toMatchObject({ status: 'orphan', lines: 2, bytes: 8, recoverable: true });

    const claimed = await workspace.sessions.claim(handle.id);
    expect(claimed.record).toMatchObject({ idle_prompts: 2 });
    expect(claimed.turn?.model).toBe('m');
    expect(claimed.notes).toEqual([]);
    expect(claimed.handle.bytes()).toBe(8);
    claimed.handle.append('three\n');
    await claimed.handle.save(RECORD);
    expect(await readFile(claimed.handle.contentPath(), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(await jsonAt(join(claimed.handle.directory, 'state.json'))).toMatchObject({
      line_count: 3,
      buffer_size: 14,
    });
  });

  it('does not give a live session away', async () => {
    const { workspace, again } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('x');
    const other = await again();
    expect((await other.sessions.list())[0]).toMatchObject({ status: 'live', pid: process.pid });
    expect(await codeOf(other.sessions.claim(handle.id))).toBe('SESSION_BUSY');
    expect(await codeOf(other.sessions.discard(handle.id))).toBe('SESSION_BUSY');
    expect(await other.sessions.clean({ all: true })).toEqual({ moved: [], bytes: 0, locks: 0 });
    const metadata = await metadataFor(other, 'a.txt');
    expect(await codeOf(other.sessions.begin(metadata))).toBe('TARGET_LOCKED');
    expect((await other.sessions.list()).length).toBe(1);
  });

  it('finds what was discarded in the attic', async () => {
    const { root, workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('kept\n');
    const { attic } = await handle.discard();
    expect(attic).toBe(join(root, '.orion/attic', handle.id));
    expect(await workspace.sessions.list()).toEqual([]);
    expect(await textOf(workspace.sessions.readContent(handle.id))).toBe('kept\n');
    const claimed = await workspace.sessions.claim(handle.id);
    expect(await textOf(claimed.handle.readContent())).toBe('kept\n');
    expect(existsSync(attic)).toBe(false);
  });

  it('never takes undecided text for content', async () => {
    const { workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('sure\n');
    handle.appendPending('unsure');
    await handle.save(RECORD);
    await handle.release();
    const claimed = await workspace.sessions.claim(handle.id);
    expect(await textOf(claimed.handle.readContent())).toBe('sure\n');
    expect(claimed.notes.join()).toContain('6 bytes of undecided text');
    expect(await readFile(join(handle.directory, 'trailing.txt'), 'utf8')).toBe('unsure');
    expect(existsSync(join(handle.directory, 'pending.txt'))).toBe(false);
  });

  it('says what became of a commit that had begun', async () => {
    const { root, workspace } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    const writing = writingRecord(sha256('new'), '.orion-0123456789abcdef.tmp');
    await handle.recordWriting(writing);
    await handle.release();
    const { writeFile } = await import('node:fs/promises');
    await writeFile(join(root, writing.temp), 'new');
    const claimed = await workspace.sessions.claim(handle.id);
    expect(claimed.writing).toEqual(writing);
    expect(existsSync(join(root, writing.temp))).toBe(false);
    expect(await claimed.handle.resolveWriting(writing)).toBe('before');
    await writeFile(join(root, 'a.txt'), 'new');
    expect(await claimed.handle.resolveWriting(writing)).toBe('after');
    await writeFile(join(root, 'a.txt'), 'other');
    expect(await claimed.handle.resolveWriting(writing)).toBe('changed_after');
  });
});

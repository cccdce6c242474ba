import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type {
  CommitRequest,
  WriteOperation,
  SessionHandle,
  SessionMetadata,
  TurnFence,
  Workspace,
} from '@orion/contracts';
import { SESSION_RECORD, TURN_RECORD } from '@orion/testkit/records';
import { openStore } from '@orion/trace-store';
import { createWorkspace } from '@orion/workspace';
import { expect, onTestFinished, test } from 'vitest';

import { sharedStateOf } from '../config/sessions-in-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { removeUnreported } from '../turn/continued/left-session.ts';
import { newSessionId } from '../turn/session-id.ts';

/** Hazard: a host does not know what another one kept, or takes for done what was only decided. */

const own = useTestDatabase();

/** Hosts that share the folder and the database. */
async function openHosts(): Promise<{
  root: string;
  one: Workspace;
  other: Workspace;
  /** Makes somebody the next owner of a turn. */
  acquire: (turnId: string) => Promise<TurnFence>;
}> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-hosts-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const open = async (): Promise<Workspace> => {
    const store = openStore({ kind: 'postgres', url: own.url() }, { clock: systemClock });
    const stateDirectory = await mkdtemp(join(tmpdir(), 'orion-host-'));
    const opened = await createWorkspace({
      root,
      clock: systemClock,
      stateDirectory,
      shared: sharedStateOf(store),
    });
    onTestFinished(async () => {
      await opened.close();
      await store.close();
      await rm(stateDirectory, { recursive: true, force: true });
    });
    return opened;
  };
  const acquire = async (turnId: string): Promise<TurnFence> => {
    const store = openStore({ kind: 'postgres', url: own.url() }, { clock: systemClock });
    const { epoch } = await store.turnLog.acquire(turnId, null);
    await store.close();
    return { turnId, epoch };
  };
  return { root, one: await open(), other: await open(), acquire };
}

async function change(workspace: Workspace, text: string): Promise<CommitRequest> {
  const expected = await workspace.checkTarget('a.txt', 'overwrite');
  return {
    target: 'a.txt',
    operation: 'overwrite',
    expected,
    eol: 'as-is',
    parts: [
      {
        kind: 'new',
        async *source() {
          yield Buffer.from(text);
        },
      },
    ],
    journal: async () => undefined,
  };
}

async function metadataFor(
  workspace: Workspace,
  operation: WriteOperation,
): Promise<SessionMetadata> {
  return {
    version: 1,
    session_id: randomUUID(),
    intent: 'a test',
    target_file: 'a.txt',
    operation,
    created_at: new Date().toISOString(),
    end_marker: 'DONE',
    final_newline: true,
    target: await workspace.checkTarget('a.txt', operation),
  };
}

test('a change is undone by another host than the one that made it', async () => {
  const { root, one, other } = await openHosts();
  const path = join(root, 'a.txt');
  const before = 'before, '.repeat(100_000);
  await writeFile(path, before);
  const made = await one.commit({ ...(await change(one, 'after')), changeId: randomUUID() });
  expect(await Array.fromAsync(other.changes())).toMatchObject([
    { files: [{ target_file: 'a.txt' }] },
  ]);
  const sha256 = createHash('sha256').update(before).digest('hex');
  expect(await other.readVersion('a.txt', sha256)).toMatchObject({ bytes: before.length });
  const { undo_id: undoId } = await other.undo({});
  expect(await readFile(path, 'utf8')).toBe(before);
  // And that one by the first, which has the other's bytes nowhere.
  await one.undo({ id: undoId ?? '' });
  expect(await readFile(path, 'utf8')).toBe('after');
  expect(made.backup_id).toBeTypeOf('string');
});

test.each([
  ['the beginning', 'at_byte = 0', 'STORE_UNAVAILABLE'],
  ['the end', 'at_byte > 0', 'BACKUP_DAMAGED'],
])('a host keeps nothing of a backup that comes without %s', async (_, lost, code) => {
  const { root, one, other } = await openHosts();
  const before = 'before, '.repeat(100_000);
  await writeFile(join(root, 'a.txt'), before);
  await one.commit({ ...(await change(one, 'after')), changeId: randomUUID() });
  await own.execute(`create table lost as select * from shared_piece where ${lost}`);
  await own.execute(`delete from shared_piece where ${lost}`);
  await expect(other.undo({})).rejects.toMatchObject({ code });
  await own.execute('insert into shared_piece select * from lost');
  await own.execute('drop table lost');
  await other.undo({});
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe(before);
});

test('a change that waits for a person on one host is none to undo on the other', async () => {
  const { root, one, other } = await openHosts();
  const path = join(root, 'a.txt');
  await writeFile(path, 'before');
  const made = await one.commit(await change(one, 'after'));
  const waiting = await one.prepareCommit(await change(one, 'maybe'));
  const ids = async (): Promise<readonly (string | undefined)[]> =>
    (await Array.fromAsync(other.changes())).map(({ files }) => files[0]?.backup_id);
  expect(await ids()).toEqual([made.backup_id]);
  expect(await other.undo({})).toMatchObject({ change_id: made.backup_id });
  expect(await readFile(path, 'utf8')).toBe('before');
  await waiting.discard();
  const next = await one.prepareCommit(await change(one, 'now'));
  await next.apply();
  expect(await ids()).toContain(next.result.backup_id);
  expect(await ids()).toHaveLength(3);
});

test('a log-in that ended on one host has ended on the other', async () => {
  const { one, other } = await openHosts();
  expect(await other.readPageAccess()).toEqual({ generation: 0, ended: {} });
  const access = { generation: 2, ended: { session: 5 }, used: { other: 6 } };
  await one.updatePageAccess(() => access);
  expect(await other.readPageAccess()).toEqual(access);
});

test('what was decided and not done is done by the next owner, and leaves nothing beside the file', async () => {
  const { root, one, other } = await openHosts();
  await writeFile(join(root, 'a.txt'), 'before');
  const metadata = await metadataFor(one, 'overwrite');
  const id = metadata.session_id;
  const handle = await one.sessions.begin(metadata);
  handle.append('after');
  const prepared = await one.prepareCommit({ ...(await change(one, 'after')), changeId: id });
  await handle.recordWriting(prepared.writing);
  expect(await readdir(root)).toHaveLength(2);
  await own.execute('update write_session set beat_at = 0');

  const claimed = await other.sessions.claim(id);

  expect(claimed.writing).toEqual(prepared.writing);
  expect(await claimed.handle.resolveWriting(prepared.writing)).toBe('before');
  expect(await readdir(root)).toEqual(['a.txt']);
  expect(await Array.fromAsync(other.changes())).toEqual([]);
  const again = await other.prepareCommit({ ...(await change(other, 'after')), changeId: id });
  await claimed.handle.recordWriting(again.writing);
  await again.apply();
  expect(await claimed.handle.resolveWriting(again.writing)).toBe('after');
  // Somebody else changes the file: the record of the change is what proves that it was made.
  await writeFile(join(root, 'a.txt'), 'of another');
  expect(await claimed.handle.resolveWriting(again.writing)).toBe('changed_after');
  await expect(handle.recordWriting(prepared.writing)).rejects.toThrow('taken this write session');
  await claimed.handle.remove();
  await prepared.discard();
  expect(await one.findChangedFile(id)).toMatchObject({ target_file: 'a.txt' });
});

/** The session of a call of which nobody was told, with its text. */
async function unreported(
  workspace: Workspace,
  fence: TurnFence,
  text: string,
): Promise<SessionHandle> {
  const turn = { ...TURN_RECORD, requestId: fence.turnId, callId: '1' };
  const metadata = { ...(await metadataFor(workspace, 'create')), session_id: newSessionId(turn) };
  const handle = await workspace.sessions.begin(metadata, turn, fence);
  handle.append(text);
  await handle.save(SESSION_RECORD);
  return handle;
}

test('a begin takes back what its own turn has claimed and heard no answer about', async () => {
  const { one, other, acquire } = await openHosts();
  const fence = await acquire(randomUUID());
  const handle = await unreported(one, fence, 'one');
  expect(await other.sessions.list()).toMatchObject([{ status: 'live' }]);

  await removeUnreported(other, { requestId: fence.turnId, callId: '1', fence });

  expect(await other.sessions.list()).toEqual([]);
  expect(await other.sessions.find(handle.id)).toMatchObject({ bytes: 3 });
  // The session of another call is nobody's business.
  await unreported(one, fence, 'two');
  await removeUnreported(other, { requestId: fence.turnId, callId: '2', fence });
  expect(await other.sessions.list()).toHaveLength(1);
});

test('a begin leaves a session alone whose file was about to be written', async () => {
  const { root, one, other, acquire } = await openHosts();
  const first = await acquire(randomUUID());
  const handle = await unreported(one, first, 'one');
  const made = { ...(await change(one, 'one')), operation: 'create' as const };
  const expected = await one.checkTarget('a.txt', 'create');
  const prepared = await one.prepareCommit({ ...made, expected, changeId: handle.id });
  await handle.recordWriting(prepared.writing);
  const fence = await acquire(first.turnId);

  await removeUnreported(other, { requestId: fence.turnId, callId: '1', fence });

  expect(await other.sessions.list()).toMatchObject([{ session_id: handle.id, bytes: 3 }]);
  await prepared.discard();
  expect(await readdir(root)).toEqual([]);
});

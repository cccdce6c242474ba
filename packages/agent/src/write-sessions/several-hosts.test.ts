import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type { CommitRequest, SessionMetadata, Workspace } from '@orion/contracts';
import { openStore } from '@orion/trace-store';
import { createWorkspace } from '@orion/workspace';
import { expect, onTestFinished, test } from 'vitest';

import { sharedStateOf } from '../config/sessions-in-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: a host does not know what another one kept, or takes for done what was only decided. */

const own = useTestDatabase();

/** Hosts that share the folder and the database. */
async function openHosts(): Promise<{ root: string; one: Workspace; other: Workspace }> {
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
  return { root, one: await open(), other: await open() };
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

test('a change is undone by another host than the one that made it', async () => {
  const { root, one, other } = await openHosts();
  const path = join(root, 'a.txt');
  const before = 'before, '.repeat(100_000);
  await writeFile(path, before);
  const made = await one.commit({ ...(await change(one, 'after')), changeId: randomUUID() });
  expect(await other.listChanges()).toMatchObject([{ files: [{ target_file: 'a.txt' }] }]);
  const sha256 = createHash('sha256').update(before).digest('hex');
  expect(await other.readVersion('a.txt', sha256)).toMatchObject({ bytes: before.length });
  const { undo_id: undoId } = await other.undo({});
  expect(await readFile(path, 'utf8')).toBe(before);
  // And that one by the first, which has the other's bytes nowhere.
  await one.undo({ id: undoId ?? '' });
  expect(await readFile(path, 'utf8')).toBe('after');
  expect(made.backup_id).toBeTypeOf('string');
});

test('a log-in that ended on one host has ended on the other', async () => {
  const { one, other } = await openHosts();
  expect(await other.readPageAccess()).toEqual({ generation: 0, ended: {} });
  const access = { generation: 2, ended: { session: 5 } };
  await one.keepPageAccess(access);
  expect(await other.readPageAccess()).toEqual(access);
});

test('what was decided and not done is done by the next owner, and leaves nothing beside the file', async () => {
  const { root, one, other } = await openHosts();
  await writeFile(join(root, 'a.txt'), 'before');
  const id = randomUUID();
  const metadata: SessionMetadata = {
    version: 1,
    session_id: id,
    intent: 'a test',
    target_file: 'a.txt',
    operation: 'overwrite',
    created_at: new Date().toISOString(),
    end_marker: 'DONE',
    final_newline: true,
    target: await one.checkTarget('a.txt', 'overwrite'),
  };
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
  expect(await other.listChanges()).toEqual([]);
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

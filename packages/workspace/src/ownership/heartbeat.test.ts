import { randomUUID } from 'node:crypto';
import { link, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  codeOf,
  eventually,
  jsonAt,
  metadataFor,
  openTestWorkspace,
  RECORD,
  writingRecord,
  beginSession,
} from '../testing/temp-workspace.ts';

it('renews the lease every 5 s, and stops when it is given back (R058)', async () => {
  const { clock, workspace } = await openTestWorkspace();
  const handle = await beginSession(workspace);
  const lease = join(handle.directory, 'lease.json');
  const first = await jsonAt(lease);
  for (let beat = 1; beat <= 3; beat += 1) {
    await clock.advance(5_000);
    const due = new Date(clock.now()).toISOString();
    await eventually(async () => (await jsonAt(lease))['heartbeat_at'] === due, 'the heartbeat');
    expect(await jsonAt(lease)).toEqual({ ...first, heartbeat_at: due });
    // The next one is scheduled when this one is written.
    await eventually(() => clock.pending() === 1);
  }
  await handle.release();
  expect(await jsonAt(lease)).toMatchObject({ token: first['token'], released: true });
  expect(clock.pending()).toBe(0);
});

it('notices within one heartbeat that it was taken over, and writes nothing more', async () => {
  const { clock, workspace, events } = await openTestWorkspace();
  const handle = await beginSession(workspace);
  handle.append('mine\n');
  await handle.save(RECORD);
  const lease = join(handle.directory, 'lease.json');
  const record = await jsonAt(lease);
  const winner = join(handle.directory, 'winner');
  await writeFile(winner, JSON.stringify({ ...record, token: 'f'.repeat(32), host: 'elsewhere' }));
  await link(winner, join(handle.directory, `claim-${String(record['token'])}`));

  await clock.advance(5_000);
  await eventually(() => handle.lost.aborted);
  expect(events).toMatchObject([{ type: 'lease_lost', details: { session_id: handle.id } }]);
  handle.append('late\n');
  handle.setAside('late');
  expect((await handle.save(RECORD)).persistence).toBe('memory');
  const writing = writingRecord('x');
  expect(await codeOf(handle.recordWriting(writing))).toBe('SESSION_BUSY');
  await handle.remove();
  expect(await readFile(join(handle.directory, 'content.txt'), 'utf8')).toBe('mine\n');
  expect(await jsonAt(lease)).toEqual(record);
});

it('holds each of 5 files for one of 50 sessions of the same process (R008)', async () => {
  const { workspace } = await openTestWorkspace();
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, index) =>
      codeOf(
        metadataFor(workspace, `${index % 5}.txt`).then((metadata) =>
          workspace.sessions.begin({ ...metadata, session_id: randomUUID() }),
        ),
      ),
    ),
  );
  expect(answers.filter((answer) => answer === 'no error')).toHaveLength(5);
  expect(answers.filter((answer) => answer === 'TARGET_LOCKED')).toHaveLength(45);
});

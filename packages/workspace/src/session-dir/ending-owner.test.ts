/** Hazard: a session is claimed in the moment in which its owner ends, and is not taken as that owner has left it. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it } from 'vitest';
import { ownIdentity } from '../ownership/process-identity.ts';
import {
  beginSession,
  codeOf,
  openTestWorkspace,
  RECORD,
  writingRecord,
} from '../testing/temp-workspace.ts';

it('has the commit that was recorded right before the owner was gone', async () => {
  const { workspace, again } = await openTestWorkspace({
    identity: async () => ({ ...(await ownIdentity()), startedAt: 'gone' }),
  });
  const handle = await beginSession(workspace);
  handle.append('text\n');
  await handle.save(RECORD);
  const writing = writingRecord('f'.repeat(64));
  let looks = 0;
  const next = await again({
    // Asked for when it is judged whether the owner is there.
    identity: async () => {
      looks += 1;
      await handle.recordWriting(writing);
      return ownIdentity();
    },
  });
  expect(looks).toBe(0);
  expect(await next.sessions.claim(handle.id)).toMatchObject({ writing });
  expect(looks).toBe(1);
});

it('finds its target free as soon as it is', async () => {
  const { root, workspace, again } = await openTestWorkspace();
  const handle = await beginSession(workspace);
  handle.append('text\n');
  await handle.save(RECORD);
  const locks = join(root, '.orion/locks');
  const [lock = ''] = await readdir(locks);
  const disk = await interceptDisk();
  const held: boolean[] = [];
  try {
    disk.use(({ name, to = '' }) => {
      if (name === 'rename' && to.endsWith('/lease.json')) held.push(existsSync(join(locks, lock)));
      return null;
    });
    await handle.release();
  } finally {
    disk.restore();
  }
  expect(held).toEqual([false]);
  const next = await again();
  expect(await codeOf(next.sessions.claim(handle.id))).toBe('no error');
});

it('records no commit once it was given back', async () => {
  const { workspace } = await openTestWorkspace();
  const handle = await beginSession(workspace);
  await handle.release();
  const recorded = handle.recordWriting(writingRecord('f'.repeat(64)));
  expect(await codeOf(recorded)).toBe('SESSION_BUSY');
});

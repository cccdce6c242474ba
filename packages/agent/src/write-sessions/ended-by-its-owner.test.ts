import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { SessionContent, SessionHandle } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { SESSION_RECORD as RECORD } from '@orion/testkit/records';
import { expect, test } from 'vitest';

import { metadataOf, openStoredWorkspace } from '../testing/stored-workspace.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: a session that its own process ends is reported as taken by another one, or what still asks for it never ends. */

const own = useTestDatabase();

const ENDS: readonly (readonly [
  name: string,
  /** `answer` comes when the database has done it. */
  change: (inner: SessionContent, answer: Promise<void>) => Partial<SessionContent>,
  end: (handle: SessionHandle) => Promise<unknown>,
])[] = [
  [
    'removed',
    (inner, answer) => ({ remove: (owner) => inner.remove(owner).then(() => answer) }),
    (handle) => handle.remove(),
  ],
  [
    'released',
    (inner, answer) => ({ release: (owner) => inner.release(owner).then(() => answer) }),
    (handle) => handle.release(),
  ],
  [
    'put away',
    (inner, answer) => ({
      putAway: (...which) => inner.putAway(...which).then((isDone) => answer.then(() => isDone)),
    }),
    (handle) => handle.discard(),
  ],
];

test.each(ENDS)(
  'a session that is %s has no owner before its process hears of it, and is not lost',
  async (_, change, end) => {
    const clock = createFakeClock(Date.now());
    const answer = Promise.withResolvers<void>();
    let isConfirmed = false;
    const { workspace, events } = await openStoredWorkspace(
      own,
      (inner) => ({
        async confirm(owners) {
          const lost = await inner.confirm(owners);
          isConfirmed ||= lost.length > 0;
          return lost;
        },
        ...change(inner, answer.promise),
      }),
      { clock },
    );
    const handle = await workspace.sessions.begin(await metadataOf(workspace));
    handle.append('text');
    await handle.save(RECORD);
    const ended = end(handle);
    await expect
      .poll(async () => {
        await clock.advance(3_000);
        return isConfirmed;
      })
      .toBe(true);
    answer.resolve();
    await ended;
    expect(handle.lost.aborted).toBe(false);
    expect(events).not.toContain('lease_lost');
  },
);

test('a save that is under way ends with its session', async () => {
  const { workspace } = await openStoredWorkspace(own, () => ({}));
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  // More than one statement stores.
  handle.append('text\n'.repeat(200_000));
  const [saved] = await Promise.all([handle.save(RECORD), handle.remove()]);
  expect(saved.durableBytes).toBeLessThanOrEqual(handle.bytes());
});

test('a session that was released is not started over', async () => {
  const { workspace } = await openStoredWorkspace(own, () => ({}));
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.append('text');
  await handle.release();
  handle.append('late');
  await handle.startOver(RECORD);
  expect(await workspace.sessions.find(handle.id)).toMatchObject({ status: 'orphan', bytes: 4 });
});

test('what was set aside stays in a session that ends where it cannot be put', async () => {
  const { root, workspace } = await openStoredWorkspace(own, () => ({}));
  const handle = await workspace.sessions.begin(await metadataOf(workspace));
  handle.setAside('aside');
  // Nothing can be put into what is no folder.
  await mkdir(join(root, '.orion'), { recursive: true });
  await writeFile(join(root, '.orion', 'attic'), '');
  const { warnings } = await handle.remove();
  expect(warnings).toContain('trailing_not_moved');
  await rm(join(root, '.orion', 'attic'));
  const { handle: claimed } = await workspace.sessions.claim(handle.id);
  const { trailing = '' } = await claimed.remove();
  expect(await readFile(trailing, 'utf8')).toBe('aside');
});

test('a session keeps its file for as long as its process lives', async () => {
  const clock = createFakeClock(Date.now());
  const { root, workspace } = await openStoredWorkspace(own, () => ({}), { clock });
  const other = await openStoredWorkspace(own, () => ({}), { root });
  const metadata = await metadataOf(workspace);
  const handle = await workspace.sessions.begin(metadata);
  for (let beats = 0; beats < 3; beats += 1) {
    // For the database, time passes only so.
    await own.execute('update write_session set beat_at = beat_at - 9000');
    await clock.advance(3_000);
    // The word of the process is under way.
    await workspace.sessions.find(handle.id);
  }
  await expect(other.workspace.sessions.begin(await metadataOf(workspace))).rejects.toMatchObject({
    code: 'TARGET_LOCKED',
  });
  await handle.release();
});

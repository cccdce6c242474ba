/** Hazard: one session that cannot be given back keeps the others, and the end of the process. */
import { createFakeClock } from '@orion/testkit';
import type { SessionHandle } from '@orion/contracts';
import { expect, it } from 'vitest';

import { KeptSessions } from './kept-sessions.ts';

it('gives every session back when it is closed, also after one that fails', async () => {
  const clock = createFakeClock();
  const released: string[] = [];
  const sessions = new KeptSessions({
    claim: () => Promise.reject(new Error('none is claimed')),
    clock,
    idleMs: 60_000,
    most: 64,
  });
  for (const id of ['a', 'b', 'c']) {
    const handle = {
      id,
      lost: new AbortController().signal,
      release: () =>
        id === 'a'
          ? Promise.reject(new Error('the disk is away'))
          : Promise.resolve(released.push(id)),
    } as unknown as SessionHandle;
    await sessions.exclusively(id, () => Promise.resolve(sessions.keep(handle, null)));
  }
  await sessions.close();
  expect(released).toEqual(['b', 'c']);
  expect(clock.pending()).toBe(0);
  await expect(sessions.exclusively('a', () => Promise.resolve())).rejects.toMatchObject({
    code: 'SERVER_STOPPING',
  });
});

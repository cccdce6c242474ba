// A server that cannot save what it is given is not ready, says why, and is ready again by itself.
import { createFakeClock } from '@orion/testkit';
import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskErrorCode } from '@orion/testkit/disk-faults';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { startTestServer } from '../testing/test-server.ts';

let disk: Awaited<ReturnType<typeof interceptDisk>>;
beforeAll(async () => {
  disk = await interceptDisk();
});
afterAll(() => disk.restore());

it.each<[DiskErrorCode, string]>([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EROFS', 'unavailable'],
])('a disk with %s is %s, until it takes something again', async (code, state) => {
  const clock = createFakeClock();
  const { ask } = await startTestServer({ clock });
  let trials = 0;
  let fails = false;
  disk.use(({ name, path }) => {
    if (name !== 'write' || !path.includes('/.orion/server/.trial.')) return null;
    trials += 1;
    return fails ? { kind: 'error', code } : null;
  });
  const look = async (): Promise<unknown> => {
    const { status, json } = await ask('/health/ready', { token: null });
    return [status, json, trials];
  };
  const ready = { status: 'ok', services: { store: 'ok', disk: 'ok' } };
  const failed = { status: 'unavailable', services: { store: 'ok', disk: state } };
  expect(await look()).toEqual([200, ready, 1]);
  fails = true;
  await clock.advance(4_999);
  expect(await look()).toEqual([200, ready, 1]);
  await clock.advance(1);
  expect(await look()).toEqual([503, failed, 2]);
  expect((await ask('/health/live', { token: null })).status).toBe(200);
  fails = false;
  await clock.advance(999);
  expect(await look()).toEqual([503, failed, 2]);
  await clock.advance(1);
  expect(await look()).toEqual([200, ready, 3]);
  disk.use(null);
});

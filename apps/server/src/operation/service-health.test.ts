// A server that cannot save what it is given is not ready, says why, and is ready again by itself.
import { createOrion } from '@orion/agent';
import type { Orion } from '@orion/agent';
import { createFakeClock } from '@orion/testkit';
import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskErrorCode } from '@orion/testkit/disk-faults';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';

import { startTestServer, temporaryDirectory } from '../testing/test-server.ts';
import { watchServices } from './service-health.ts';

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

it('the worst of several disks is told', async () => {
  const root = await temporaryDirectory();
  const first = await createOrion({ workspace: root, store: 'memory', projectId: 'first' });
  onTestFinished(() => first.close());
  const second: Orion = {
    ...first,
    serverFiles: { ...first.serverFiles, tryDisk: () => Promise.reject(new Error('gone')) },
  };
  const { ask } = await startTestServer({ orion: first, projects: { first, second } });
  const { status, json } = await ask('/health/ready', { token: null });
  const services = { store: 'ok', disk: 'unavailable' };
  expect([status, json]).toEqual([503, { status: 'unavailable', services }]);
});

it('what hangs is unavailable after a second, and a disk that hangs is not tried again meanwhile', async () => {
  const orion = await createOrion({ workspace: await temporaryDirectory(), store: 'memory' });
  onTestFinished(() => orion.close());
  const clock = createFakeClock();
  const calls = { store: 0, disk: 0 };
  const hang = (what: keyof typeof calls) => () => {
    calls[what] += 1;
    return new Promise<void>(() => undefined);
  };
  const look = watchServices({
    orion: { store: { ...orion.store, tryWrite: hang('store') } },
    projects: { all: [{ serverFiles: { ...orion.serverFiles, tryDisk: hang('disk') } }] },
    clock,
  });
  for (const looks of [1, 2]) {
    const found = look();
    await expect.poll(() => calls).toEqual({ store: looks, disk: 1 });
    await clock.advance(1_000);
    expect(await found).toEqual({ store: 'unavailable', disk: 'unavailable' });
  }
});

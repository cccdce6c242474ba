import cluster from 'node:cluster';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { forkWorker } from './cluster.ts';

/** Hazard: the end of a worker takes its parent along. */

test('a worker that cannot be started has ended', async () => {
  cluster.setupPrimary({ cwd: '/nowhere' });
  onTestFinished(() => cluster.setupPrimary({ cwd: undefined }));
  await expect(forkWorker([]).ended).resolves.toEqual({ code: 1, signal: null });
});

test('a question to a worker that has just been killed is no end of its parent', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orion-cluster-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const script = join(folder, 'worker.cjs');
  await writeFile(script, 'setInterval(() => {}, 1000);');
  cluster.setupPrimary({ exec: script, execArgv: [] });
  const worker = forkWorker([]);
  await once(cluster, 'online');
  worker.signal('SIGKILL');
  // It is dead, and this process has not been told yet.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  worker.ask(() => undefined);
  await expect(worker.ended).resolves.toEqual({ code: null, signal: 'SIGKILL' });
});

import cluster from 'node:cluster';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, onTestFinished, test } from 'vitest';

import { forkWorker } from './cluster.ts';

/** Hazard: the end of a worker takes its parent along. */

test('a worker that cannot be started has ended', async () => {
  cluster.setupPrimary({ cwd: '/nowhere' });
  onTestFinished(() => cluster.setupPrimary({ cwd: undefined }));
  await expect(forkWorker([]).ended).resolves.toEqual({ code: null, signal: null });
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

/** With at most 64 open files. */
async function runWithFew(script: URL): Promise<string> {
  const path = fileURLToPath(script);
  const command = 'ulimit -n 64; exec "$0" --conditions=@orion/source "$1"';
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, path]);
  return stdout;
}

test('a worker that had no descriptor for a connection gets the next ones', async () => {
  const answers = await runWithFew(new URL('../testing/full-worker.ts', import.meta.url));
  expect(answers).toBe('answered closed answered answered\n');
});

test('a worker that there are no descriptors for has ended', async () => {
  const ended = JSON.parse(
    await runWithFew(new URL('../testing/full-parent.ts', import.meta.url)),
  ) as unknown;
  expect(ended).toEqual({ code: null, signal: null });
});

test('says so when there are no descriptors for the first worker', async () => {
  const said = await runWithFew(new URL('../testing/full-group.ts', import.meta.url));
  expect(said).toBe('1: A worker could not be started.\n');
});

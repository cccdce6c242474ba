/** A server in a worker that takes one connection. Prints what becomes of a second one. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { createOrion } from '@orion/agent';

import { startServer } from '../start-server.ts';

const ROUND_MS = 500;

async function open(port: number) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

if (cluster.isPrimary) {
  const worker = cluster.fork();
  const [, { port }] = (await once(cluster, 'listening')) as [unknown, { port: number }];
  const first = await open(port);
  await wait(ROUND_MS);
  const second = await open(port);
  const end = await Promise.race([
    once(second, 'close').then(() => 'closed'),
    wait(ROUND_MS, 'open'),
  ]);
  process.stdout.write(end);
  first.destroy();
  second.destroy();
  worker.process.kill('SIGKILL');
} else {
  const workspace = await mkdtemp(join(tmpdir(), 'orion-limited-'));
  const orion = await createOrion({ workspace, store: 'memory' });
  await startServer({ orion, port: 0, token: 'a-token-0123456789', limits: { connections: 1 } });
  await rm(workspace, { recursive: true, force: true });
}

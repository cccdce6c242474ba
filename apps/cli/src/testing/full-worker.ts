/**
 * Prints what clients get of a worker that has no descriptors for a moment: before it, during it, and twice after it.
 * Needs a low limit of open files.
 */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';

import { forkWorker } from '../serve/cluster.ts';

const ANSWER_MS = 2_000;

async function ask(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('silent')));
  let said = '';
  try {
    for await (const bytes of socket.setEncoding('utf8')) said += String(bytes);
  } catch (error) {
    return (error as Error).message === 'silent' ? 'silent' : 'closed';
  }
  return said === '' ? 'closed' : said;
}

if (cluster.isPrimary) {
  const worker = forkWorker([]);
  const [, { port }] = (await once(cluster, 'listening')) as [unknown, { port: number }];
  const [other] = Object.values(cluster.workers ?? {});
  const tell = async (what: string): Promise<void> => {
    const told = once(cluster, 'message');
    other?.send(what);
    await told;
  };
  const answers = [await ask(port)];
  await tell('fill');
  answers.push(await ask(port));
  await tell('free');
  answers.push(await ask(port), await ask(port));
  process.stdout.write(`${answers.join(' ')}\n`);
  worker.signal('SIGKILL');
  await worker.ended;
} else {
  const files: number[] = [];
  let closed = Promise.resolve();
  createServer((socket) => {
    closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.end('answered');
  }).listen(0, '127.0.0.1');
  const obey = async (what: unknown): Promise<void> => {
    // A client has its answer a moment before its descriptor is free.
    await closed;
    try {
      while (what === 'fill') files.push(openSync('/dev/null', 'r'));
    } catch {
      // It has none left.
    }
    if (what === 'free') for (const file of files) closeSync(file);
    process.send?.('done');
  };
  process.on('message', (what) => void obey(what));
}

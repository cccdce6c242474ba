/** The only place that knows that workers are those of `node:cluster`: they share the port of their parent. */
import cluster from 'node:cluster';
import { once } from 'node:events';

import type { Serving, Worker, WorkerEnd } from './worker-group.ts';

type Message = { readonly serving: Serving } | 'alive';
const QUESTION = 'alive?';

/** Whether this process is a worker: it ends with its parent, also where that is killed. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

export function tellParent(serving: Serving): void {
  const tell = (message: Message): void => void process.send?.(message);
  process.on('message', (message) => {
    if (message === QUESTION) tell('alive');
  });
  tell({ serving });
}

/** Starts this command with these arguments. */
export function forkWorker(args: readonly string[]): Worker {
  cluster.setupPrimary({ args: [...args] });
  const worker = cluster.fork();
  let onAnswer = (): void => undefined;
  const { promise: serving, resolve } = Promise.withResolvers<Serving>();
  worker.on('message', (message: Message) => {
    if (message === 'alive') onAnswer();
    else resolve(message.serving);
  });
  // Such as a question to one that has just ended, which says so itself.
  worker.on('error', () => undefined);
  return {
    pid: worker.process.pid ?? 0,
    serving,
    ended: once(worker, 'exit').then(([code, signal]): WorkerEnd => ({ code, signal })),
    ask(answer) {
      onAnswer = answer;
      if (worker.isConnected()) worker.send(QUESTION);
    },
    signal: (signal) => void worker.process.kill(signal),
  };
}

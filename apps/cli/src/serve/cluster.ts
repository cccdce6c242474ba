/** The only place that knows that workers are those of `node:cluster`: they share the port of their parent. */
import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';

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
  closeUntaken(worker.process);
  let onAnswer = (): void => undefined;
  const { promise: serving, resolve } = Promise.withResolvers<Serving>();
  worker.on('message', (message: Message) => {
    if (message === 'alive') onAnswer();
    else resolve(message.serving);
  });
  const ended = new Promise<WorkerEnd>((end) => {
    worker.once('exit', (code, signal) => end({ code, signal }));
    // Such as a question to one that has just ended, which says so itself. One that could not be started says nothing.
    worker.on('error', () => {
      if (worker.process.pid === undefined) end({ code: 1, signal: null });
    });
  });
  return {
    pid: worker.process.pid ?? 0,
    serving,
    ended,
    ask(answer) {
      onAnswer = answer;
      if (worker.isConnected()) worker.send(QUESTION);
    },
    signal: (signal) => void worker.process.kill(signal),
  };
}

/**
 * A connection that is handed to a worker stays open in this process until the worker says that it has it.
 * `node:cluster` forgets the connection of a worker that ends before that: its client would wait for ever. It hands a
 * worker one after the other.
 */
function closeUntaken(worker: ChildProcess): void {
  type Send = (message: unknown, connection?: { close(): void }, ...more: unknown[]) => boolean;
  const send = worker.send.bind(worker) as Send;
  let untaken: { close(): void } | null = null;
  const note: Send = (message, connection, ...more) => {
    untaken = connection ?? untaken;
    return send(message, connection, ...more);
  };
  worker.send = note as ChildProcess['send'];
  // Before the next one is handed over.
  worker.prependListener('internalMessage', (message: object) => {
    if ('ack' in message) untaken = null;
  });
  // When all that it has said was read.
  worker.once('close', () => untaken?.close());
}

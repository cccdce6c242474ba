/** The only place that knows that workers are those of `node:cluster`: they share the port of their parent. */
import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import type { Worker as ClusterWorker } from 'node:cluster';

import type { Serving, Worker, WorkerEnd } from './worker-group.ts';

type Message = { readonly serving: Serving } | 'alive';
const QUESTION = 'alive?';
const UNSTARTED: WorkerEnd = { code: null, signal: null };

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

/** Starts this command with these arguments. One that cannot be started has ended. */
export function forkWorker(args: readonly string[]): Worker {
  cluster.setupPrimary({ args: [...args] });
  const worker = forked();
  if (worker === null) return unstarted();
  closeUntaken(worker);
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
      if (worker.process.pid === undefined) end(UNSTARTED);
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

function unstarted(): Worker {
  return {
    pid: 0,
    serving: new Promise(() => undefined),
    ended: Promise.resolve(UNSTARTED),
    ask: () => undefined,
    signal: () => undefined,
  };
}

/** Null where this process has no descriptors left for it, or the system no room. */
function forked(): ClusterWorker | null {
  try {
    const worker = cluster.fork();
    if (typeof worker.process.send === 'function') return worker;
    worker.on('error', () => undefined);
    return null;
  } catch {
    return null;
  }
}

/**
 * A connection that is handed to a worker stays open in this process until the worker says that it has it.
 * `node:cluster` forgets the connection of a worker that ends before that: its client would wait for ever. It hands a
 * worker one after the other.
 *
 * A worker without a descriptor for it refuses it in a way that `node:cluster` does not see: the worker would never get
 * another one. To it, that worker has taken the connection.
 */
function closeUntaken(worker: ClusterWorker): void {
  type Connection = { close(): void };
  type Send = (message: object, connection?: Connection | null, ...more: unknown[]) => boolean;
  const { process: child } = worker;
  const send = child.send.bind(child) as Send;
  let untaken: { readonly connection: Connection; readonly seq: unknown } | null = null;
  const note: Send = (message, connection, ...more) => {
    if (connection !== undefined && connection !== null)
      untaken = { connection, seq: 'seq' in message ? message.seq : null };
    return send(message, connection, ...more);
  };
  child.send = note as ChildProcess['send'];
  // Before the next one is handed over.
  child.prependListener('internalMessage', (message: object) => {
    if ('ack' in message) untaken = null;
    if (!('cmd' in message) || message.cmd !== 'NODE_HANDLE_NACK' || untaken === null) return;
    const { seq: ack } = untaken;
    setImmediate(() => child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: true }));
  });
  // When all that it has said was read.
  child.once('close', () => untaken?.connection.close());
}

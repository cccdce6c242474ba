import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** One listener for each connection: a client may send as many requests ahead as it likes. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once when a response is over: its client has it whole, or has gone, also if that was before. One that
 * waits behind another on its connection is not closed with it by every version of Node:
 * https://github.com/nodejs/node/pull/62534
 */
export function whenClosed(response: ServerResponse, callback: () => void): void {
  const { socket } = response.req;
  if (response.destroyed || socket.destroyed) return callback();
  const callbacks = waiting.get(socket) ?? watch(socket);
  const close = (): void => {
    if (callbacks.delete(close)) callback();
  };
  callbacks.add(close);
  response.once('close', close);
}

function watch(socket: Socket): Set<() => void> {
  const callbacks = new Set<() => void>();
  waiting.set(socket, callbacks);
  socket.once('close', () => {
    for (const callback of callbacks) callback();
  });
  return callbacks;
}

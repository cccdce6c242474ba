// A response that waits behind another on its connection is over when the connection is, whatever version of Node runs.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import { expect, it } from 'vitest';

import { whenClosed } from './when-closed.ts';

/** It has no connection yet, and no version of Node closes it with one. */
function waitingOn(socket: Socket): ServerResponse {
  return new ServerResponse(new IncomingMessage(socket));
}

function counter(): { readonly count: () => number; readonly add: () => void } {
  let count = 0;
  return { count: () => count, add: () => void (count += 1) };
}

it('is called back once for each response when the connection ends', async () => {
  const socket = new Socket();
  const [first, second] = [counter(), counter()];
  const response = waitingOn(socket);
  whenClosed(response, first.add);
  whenClosed(response, first.add);
  whenClosed(waitingOn(socket), second.add);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
  response.emit('close');
  expect([first.count(), second.count()]).toEqual([2, 1]);
});

it('is called back once for a response that is closed before its connection', async () => {
  const socket = new Socket();
  const called = counter();
  const response = waitingOn(socket);
  whenClosed(response, called.add);
  response.emit('close');
  expect(called.count()).toBe(1);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
  expect(called.count()).toBe(1);
});

it.each(['the response', 'the connection'])('is called back at once if %s is over', (over) => {
  const socket = new Socket();
  const response = waitingOn(socket);
  (over === 'the response' ? response : socket).destroy();
  const called = counter();
  whenClosed(response, called.add);
  expect(called.count()).toBe(1);
});

it('adds one listener to a connection, however many requests are sent ahead', () => {
  const socket = new Socket();
  const before = socket.listenerCount('close');
  for (let index = 0; index < 20; index += 1) whenClosed(waitingOn(socket), () => undefined);
  expect(socket.listenerCount('close')).toBe(before + 1);
});

// A client that goes away before its stream begins has none: neither its place nor the stop of the server waits for it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createFakeClock } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { openSocket } from '../testing/test-server.ts';
import { EventStreams } from './event-streams.ts';

it('of streams that wait behind another on their connection has none of them', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const clock = createFakeClock();
  const count = 20;
  const streams = new EventStreams({ clock, perClient: count, onFailure: () => undefined });
  const asked = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    streams.start(response, streams.admit('client'), async function* (signal) {
      yield 'x'.repeat(100_000);
      if (!signal.aborted) await once(signal, 'abort');
    });
    if (streams.open === count) asked.resolve();
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const socket = await openSocket((server.address() as AddressInfo).port);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count));
  await asked.promise;
  socket.destroy();
  await expect.poll(() => streams.open, { timeout: 2_000 }).toBe(0);
  streams.admit('client').leave();
  await streams.settled();
  expect([clock.pending(), warnings]).toEqual([0, []]);
});

it('has no stream', async () => {
  const clock = createFakeClock();
  const streams = new EventStreams({ clock, perClient: 1, onFailure: () => undefined });
  const asked = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    asked.resolve();
    // As long as a store that does not answer.
    response.once('close', () => {
      streams.start(response, streams.admit('client'), async function* (signal) {
        if (!signal.aborted) await once(signal, 'abort');
        yield* [];
      });
      started.resolve();
    });
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const socket = await openSocket((server.address() as AddressInfo).port);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await asked.promise;
  socket.destroy();
  await started.promise;
  await expect.poll(() => streams.open, { timeout: 1_000 }).toBe(0);
  streams.admit('client').leave();
  await streams.settled();
  expect(clock.pending()).toBe(0);
});

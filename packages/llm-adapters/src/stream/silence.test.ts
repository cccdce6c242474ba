import { createFakeClock } from '@orion/testkit';
import { expect, test, vi } from 'vitest';

import { createAdapterOf } from '../testing/providers.ts';
import { ONCE, QUESTION, content, serve, sse } from '../testing/streams.ts';

test('silence ends a stream after a minute, and what came is kept', async () => {
  const server = await serve({ pieces: [sse(content('half'))], end: 'open' });
  const clock = createFakeClock();
  const adapter = createAdapterOf('openai-chat', { baseUrl: server.url, clock, retry: ONCE });
  const events = adapter.sendMessagesStreaming(QUESTION, {})[Symbol.asyncIterator]();
  expect((await events.next()).value).toEqual({ type: 'text-delta', text: 'half' });

  const next = events.next();
  let ended = false;
  void next.then(() => {
    ended = true;
  });
  await clock.advance(59_999);
  expect(ended).toBe(false);
  await clock.advance(1);
  expect((await next).value).toMatchObject({
    type: 'error',
    error: {
      code: 'STREAM_STALLED',
      retryable: true,
      message: `${server.address} has sent nothing for 60 seconds`,
    },
  });
  expect(clock.pending()).toBe(0);
  await vi.waitFor(() => expect(server.connections()).toBe(0));
});

test('before the first event a model may think for longer', async () => {
  const server = await serve({ pieces: [': thinking\n\n'], end: 'open' });
  const clock = createFakeClock();
  const scheduled = vi.spyOn(clock, 'schedule');
  const options = { baseUrl: server.url, clock, retry: ONCE, connectTimeoutMs: 100_000 };
  const adapter = createAdapterOf('openai-chat', options);
  const first = adapter.sendMessagesStreaming(QUESTION, {})[Symbol.asyncIterator]().next();
  let ended = false;
  void first.then(() => {
    ended = true;
  });
  // The head is there: what is waited for is the first event.
  await vi.waitFor(() => expect(scheduled.mock.lastCall?.[0]).toBe(300_000));
  expect(clock.pending()).toBe(1);
  await clock.advance(200_000);
  expect(ended).toBe(false);
  await clock.advance(200_000);
  expect((await first).value).toMatchObject({ error: { code: 'STREAM_STALLED' } });
});

test('keep-alives take the place of an answer for five minutes in all', async () => {
  const clock = createFakeClock();
  const answer = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const adapter = createAdapterOf('openai-chat', {
    baseUrl: 'http://provider.test/v1',
    clock,
    retry: ONCE,
    fetch: (_url, init) => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          init?.signal?.addEventListener('abort', () => controller.error(new Error('aborted')));
          answer.resolve(controller);
        },
      });
      return Promise.resolve(new Response(body));
    },
  });
  const events = adapter.sendMessagesStreaming(QUESTION, {})[Symbol.asyncIterator]();
  const first = events.next();
  const body = await answer.promise;
  const send = (text: string): void => body.enqueue(new TextEncoder().encode(text));
  send(sse(content('half')));
  expect((await first).value).toEqual({ type: 'text-delta', text: 'half' });
  // The reader takes an hour for it.
  await clock.advance(3_600_000);

  let ended = false;
  const next = events.next().finally(() => {
    ended = true;
  });
  for (const keepAlive of [': ping\n\n', sse(content('')), ': ping\n\n', sse(content(''))]) {
    await clock.advance(59_000);
    send(keepAlive);
  }
  await clock.advance(50_000);
  send(': ping\n\n');
  await clock.advance(13_999);
  expect(ended).toBe(false);
  await clock.advance(1);
  expect((await next).value).toMatchObject({
    error: {
      code: 'STREAM_STALLED',
      message: 'provider.test:80 has sent only keep-alives for 300 seconds',
    },
  });
  expect(clock.pending()).toBe(0);
});

test('time in which nothing is awaited is not silence', async () => {
  const server = await serve({
    pieces: [sse(content('a')), sse(content('b'))],
    end: 'open',
    pauseMs: 20,
  });
  const clock = createFakeClock();
  const adapter = createAdapterOf('openai-chat', { baseUrl: server.url, clock, silenceMs: 1000 });
  const events = adapter.sendMessagesStreaming(QUESTION, {})[Symbol.asyncIterator]();
  await events.next();
  await clock.advance(3_600_000);
  expect((await events.next()).value).toEqual({ type: 'text-delta', text: 'b' });
  await events.return?.();
  expect(clock.pending()).toBe(0);
});

import { setTimeout as wait } from 'node:timers/promises';

import type { LlmEvent } from '@orion/contracts';
import { expect, test, vi } from 'vitest';

import {
  DONE,
  QUESTION,
  STOP,
  ask,
  collect,
  content,
  errorOf,
  serve,
  sse,
  textOf,
} from '../testing/streams.ts';
import { createOpenAiCompatibleAdapter } from './adapter.ts';

const ENDLESS = { pieces: [sse(content('a'))], end: 'open' } as const;

/** All events of a request that is aborted soon after its first event, by a reader that waits for the next or is busy. */
async function abortedAtFirst(
  server: Awaited<ReturnType<typeof serve>>,
  reader: 'waiting' | 'busy',
): Promise<readonly LlmEvent[]> {
  const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url });
  const controller = new AbortController();
  const { signal } = controller;
  const events: LlmEvent[] = [];
  for await (const event of adapter.sendMessagesStreaming(QUESTION, { signal })) {
    events.push(event);
    if (events.length > 1) continue;
    const aborted = wait(20).then(() => controller.abort());
    if (reader === 'busy') await aborted;
  }
  return events;
}

test('an abort in mid-stream is the final error, and closes the socket', async () => {
  const server = await serve(ENDLESS);
  const events = await abortedAtFirst(server, 'waiting');
  expect(textOf(events)).toBe('a');
  expect(errorOf(events)).toMatchObject({ code: 'ABORTED', retryable: false });
  await vi.waitFor(() => expect(server.connections()).toBe(0));
});

test('an abort closes the socket at once, even while nothing is read', async () => {
  const server = await serve(ENDLESS);
  const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url });
  const controller = new AbortController();
  const iterator = adapter
    .sendMessagesStreaming(QUESTION, { signal: controller.signal })
    [Symbol.asyncIterator]();
  await iterator.next();
  controller.abort();
  await vi.waitFor(() => expect(server.connections()).toBe(0));
  expect(await iterator.next()).toMatchObject({ value: { error: { code: 'ABORTED' } } });
  expect(await iterator.next()).toMatchObject({ done: true });
});

test.for([
  ['in mid-stream', [], true],
  ['although the answer is complete', [STOP, DONE], false],
] as const)('an abort keeps the text that has arrived unread: %s', async ([, rest, fails]) => {
  const pieces = [sse(content('a')), sse(content('b\n')), sse(content('c\n'), ...rest)];
  const server = await serve({ pieces, end: 'open' });
  // The rest arrives while the reader is busy, as with a slow disk.
  const events = await abortedAtFirst(server, 'busy');
  expect(textOf(events)).toBe('ab\nc\n');
  expect(events.at(-1)).toMatchObject(
    fails ? { type: 'error', error: { code: 'ABORTED' } } : { type: 'finish' },
  );
  await vi.waitFor(() => expect(server.connections()).toBe(0));
});

test('an abort before the answer', async () => {
  const server = await serve(() => {
    controller.abort();
    return { pieces: [], end: 'open' };
  });
  const controller = new AbortController();
  const events = await ask(server, { signal: controller.signal });
  expect(events.map(({ type }) => type)).toEqual(['error']);
  expect(errorOf(events).code).toBe('ABORTED');
});

test('a signal that is already aborted sends nothing', async () => {
  const server = await serve(ENDLESS);
  const events = await ask(server, { signal: AbortSignal.abort() });
  expect(errorOf(events).code).toBe('ABORTED');
  expect(server.accepted()).toBe(0);
});

test('returning early closes the request', async () => {
  const server = await serve(ENDLESS);
  const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url });
  for await (const event of adapter.sendMessagesStreaming(QUESTION, {})) {
    expect(event.type).toBe('text-delta');
    break;
  }
  await vi.waitFor(() => expect(server.connections()).toBe(0));
});

test('an error in the stream closes the request', async () => {
  const server = await serve({ pieces: ['data: {"error":{"message":"x"}}\n\n'], end: 'open' });
  await ask(server);
  await vi.waitFor(() => expect(server.connections()).toBe(0));
});

test('an orderly end keeps the connection for the next request, and the signal free', async () => {
  const server = await serve({ pieces: [sse(content('a'), STOP, DONE)] });
  const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url });
  const controller = new AbortController();
  const listen = vi.spyOn(controller.signal, 'addEventListener');
  const leave = vi.spyOn(controller.signal, 'removeEventListener');
  for (let count = 0; count < 3; count += 1) {
    await collect(adapter.sendMessagesStreaming(QUESTION, { signal: controller.signal }));
    await wait(20);
  }
  expect(server.accepted()).toBe(1);
  expect(leave).toHaveBeenCalledTimes(listen.mock.calls.length);
});

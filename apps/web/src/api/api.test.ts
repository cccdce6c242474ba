import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { ApiError, createApi } from './api.ts';
import type { Api } from './api.ts';

/** Hazard: an answer that begins and then stalls keeps a view waiting for ever, or one that is slow is given up. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** One answer, which a test writes by hand. */
function setUp(status = 200) {
  let body: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      body = controller;
    },
  });
  const refusals: string[] = [];
  const api = createApi({
    token: 'token',
    refused: () => refusals.push('refused'),
    fetch: (_url, { signal } = {}) => {
      signal?.addEventListener('abort', () => body?.error(signal.reason));
      return Promise.resolve(new Response(stream, { status }));
    },
  });
  return {
    refusals,
    api,
    arrive: (text: string) => body?.enqueue(new TextEncoder().encode(text)),
    end: () => body?.close(),
  };
}

type Read = (api: Api) => Promise<unknown>;
const READS: readonly (readonly [string, Read])[] = [
  ['call', (api) => api.call('/x')],
  ['bytes', (api) => api.bytes('/x', 0, 9)],
  ['blob', (api) => api.blob('/x')],
];

it.each(READS)('%s gives an answer up that stalls for 15 s', async (_name, read) => {
  const { api, arrive } = setUp();
  const outcome = read(api).catch((error: unknown) => error);
  arrive('{"a":');
  await vi.advanceTimersByTimeAsync(14_999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await outcome).toMatchObject({ code: 'SERVER_UNREACHABLE', status: 0 });
});

it.each(READS)('%s takes an answer that is slow, and whole', async (name, read) => {
  const { api, arrive, end } = setUp();
  const outcome = read(api);
  for (const part of ['{"a"', ':"', 'ä"}']) {
    await vi.advanceTimersByTimeAsync(10_000);
    arrive(part);
  }
  await vi.advanceTimersByTimeAsync(10_000);
  end();
  const answer = await outcome;
  const text = answer instanceof Blob ? await answer.text() : answer;
  expect(text instanceof Uint8Array ? new TextDecoder().decode(text) : text).toEqual(
    name === 'call' ? { a: 'ä' } : '{"a":"ä"}',
  );
  expect(vi.getTimerCount()).toBe(0);
});

it('an answer without content is none, and one that is no JSON is not that of the server', async () => {
  const none = createApi({
    token: 'token',
    refused: () => undefined,
    fetch: () => Promise.resolve(new Response(null, { status: 204 })),
  });
  expect(await none.call('/x', { method: 'DELETE' })).toBe(null);
  const { api, arrive, end } = setUp();
  arrive('<html>');
  end();
  await expect(api.call('/x')).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' });
});

it('a refusal says what the server said, and that of the log-in is noticed', async () => {
  const { api, arrive, end, refusals } = setUp(401);
  arrive('{"error":{"code":"UNAUTHORIZED","message":"No.","hint":"Log in."}}');
  end();
  await expect(api.call('/x')).rejects.toMatchObject({
    status: 401,
    code: 'UNAUTHORIZED',
    hint: 'Log in.',
  });
  expect(refusals).toHaveLength(1);
});

it('what a request was stopped by before it was sent is said as it is', async () => {
  const ended = new ApiError(401, 'PAGE_SESSION_ENDED', 'This log-in is over.', null);
  const fetch = () => Promise.reject(ended);
  const api = createApi({ token: 'token', refused: () => undefined, fetch });
  await expect(api.call('/x')).rejects.toBe(ended);
});

it('a refusal of a proxy ends no log-in', async () => {
  const { api, arrive, end, refusals } = setUp(401);
  arrive('<html>Log in to the tunnel</html>');
  end();
  const refusal = { status: 401, code: 'UNEXPECTED_ANSWER' };
  await expect(api.call('/x')).rejects.toMatchObject(refusal);
  expect(refusals).toEqual([]);
});

it('a caller who leaves gets its own reason', async () => {
  const { api } = setUp();
  const leaving = new AbortController();
  const outcome = api.bytes('/x', 0, 9, leaving.signal).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(0);
  leaving.abort(new Error('left'));
  expect(await outcome).toMatchObject({ message: 'left' });
});

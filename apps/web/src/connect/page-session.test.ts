import { createHmac } from 'node:crypto';

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { isOurServer } from './page-session.ts';

/** Hazard: a server that cannot be heard is taken for a stranger, or waited for without end. */

const SESSION = { id: 'id', key: '0123456789abcdef'.repeat(4) };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function answerWith(body: (asked: { readonly challenge: string }) => BodyInit): void {
  vi.stubGlobal('fetch', (_url: string, { body: asked }: { readonly body: string }) =>
    Promise.resolve(new Response(body(JSON.parse(asked) as { challenge: string }))),
  );
}

it('knows the server by its proof, and leaves no timer behind', async () => {
  const key = Buffer.from(SESSION.key, 'hex');
  answerWith(({ challenge }) => {
    const mac = createHmac('sha256', key).update(`orion page challenge ${challenge}`);
    return JSON.stringify({ proof: mac.digest('hex') });
  });
  expect(await isOurServer(SESSION)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it.each(['{"proof":"00"}', '{"proof":""}', '{"proof":1}', '{}', 'null', '"proof"', '<html>', ''])(
  'takes whoever answers %s for a stranger',
  async (text) => {
    answerWith(() => text);
    expect(await isOurServer(SESSION)).toBe(false);
  },
);

it('an answer that breaks off says nothing of who gave it', async () => {
  answerWith(() => {
    return new ReadableStream({
      start: (controller) => controller.error(new TypeError('network error')),
    });
  });
  await expect(isOurServer(SESSION)).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' });
});

it('waits for 15 s', async () => {
  vi.stubGlobal('fetch', (_url: string, { signal }: { readonly signal: AbortSignal }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  });
  const outcome = isOurServer(SESSION).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(14_999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await outcome).toMatchObject({ code: 'SERVER_UNREACHABLE', status: 0 });
});

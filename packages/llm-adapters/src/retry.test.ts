import type { SendOptions } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, test, vi } from 'vitest';

import { DEFAULT_RETRY, readRetryAfter, retryWait, type UpcomingRetry } from './retry.ts';
import type { Answer } from './scripted/byte-server.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import {
  MESSAGE_START,
  MESSAGE_STOP,
  messageEnd,
  namedEvents,
  textBlock,
} from './testing/named-events.ts';
import { RESPONSE_START, responseEnd, textDelta } from './testing/named-events.ts';
import { DONE, QUESTION, STOP, collect, content, serve, sse, textOf } from './testing/streams.ts';

const WHOLE: Readonly<Record<FormatName, string>> = {
  'openai-chat': sse(content('whole'), STOP, DONE),
  'openai-responses': namedEvents(RESPONSE_START, textDelta('whole'), responseEnd('completed')),
  'anthropic-messages': namedEvents(
    MESSAGE_START,
    ...textBlock(0, 'whole'),
    messageEnd('end_turn'),
    MESSAGE_STOP,
  ),
};

const BUSY: Answer = {
  status: 529,
  pieces: ['{"error":{"message":"busy","type":"overloaded_error"}}'],
};

/** Timers other than waits: silence, silence before the first event, the grace of an ended answer. */
const LIMITS = [60_000, 300_000, 1000];

/** Asks over a real socket, moving a fake clock until the answer is there. */
async function ask(answers: readonly Answer[], format: FormatName = 'openai-chat') {
  const server = await serve(answers);
  const clock = createFakeClock();
  const waits: number[] = [];
  const retries: UpcomingRetry[] = [];
  const adapter = createAdapterOf(format, {
    baseUrl: server.url,
    clock: {
      ...clock,
      schedule: (milliseconds, callback) => {
        if (!LIMITS.includes(milliseconds)) waits.push(milliseconds);
        return clock.schedule(milliseconds, callback);
      },
    },
    random: () => 0.9,
    onRetry: (retry) => retries.push(retry),
  });
  let ended = false;
  const answer = collect(adapter.sendMessagesStreaming(QUESTION, {})).finally(() => {
    ended = true;
  });
  await vi.waitFor(
    async () => {
      if (waits.length > 0) await clock.advance(waits.at(-1) ?? 0);
      expect(ended).toBe(true);
    },
    { interval: 2, timeout: 5000 },
  );
  return { events: await answer, waits, retries, server };
}

describe('a request whose answer has not begun', () => {
  test.for(FORMATS)('%s: is repeated, each time after a longer while', async (format) => {
    const { events, waits, server } = await ask(
      [BUSY, BUSY, BUSY, { pieces: [WHOLE[format]] }],
      format,
    );
    expect(textOf(events)).toBe('whole');
    expect(waits).toEqual([475, 950, 1900]);
    expect(server.requests).toHaveLength(4);
  });

  test('is given up in the end, with its own error', async () => {
    const { events, server } = await ask([BUSY]);
    expect(events).toMatchObject([{ type: 'error', error: { code: 'PROVIDER_OVERLOADED' } }]);
    expect(server.requests).toHaveLength(1 + DEFAULT_RETRY.retries);
  });

  test('waits as long as the server asks', async () => {
    const headers = { 'retry-after': '7' };
    const { waits, retries } = await ask([
      { ...BUSY, status: 429, headers },
      { pieces: [WHOLE['openai-chat']] },
    ]);
    expect(waits).toContain(7000);
    expect(retries).toEqual([{ waitMs: 7000, code: 'PROVIDER_RATE_LIMIT' }]);
  });

  test.for([
    ['Please retry in 26.5s.', [], 26_500],
    ['Please try again in 0m42.5s', [], 42_500],
    ['Please retry after 6 seconds.', [], 6000],
    ['Please try again in 250ms. Visit us', [], 250],
    ['Slow down', [{ '@type': 'google.rpc.RetryInfo', retryDelay: '26s' }], 26_000],
  ] as const)('waits as long as the body asks: %s %j', async ([message, details, expected]) => {
    const error = { code: 429, message, details };
    const { retries } = await ask([
      { status: 429, pieces: [JSON.stringify({ error })] },
      { pieces: [WHOLE['openai-chat']] },
    ]);
    expect(retries).toEqual([{ waitMs: expected, code: 'PROVIDER_RATE_LIMIT' }]);
  });

  const limited = { message: 'Rate limit reached. Please try again in 11.054s.' };
  test.for<readonly [FormatName, string, number]>([
    ['openai-chat', sse({ error: { ...limited, code: 429 } }), 11_054],
    [
      'openai-responses',
      namedEvents(
        RESPONSE_START,
        responseEnd('failed', { error: { ...limited, code: 'rate_limit_exceeded' } }),
      ),
      11_054,
    ],
    [
      'anthropic-messages',
      namedEvents({
        type: 'error',
        error: {
          type: 'rate_limit_error',
          message: 'Slow down',
          details: [{ retryDelay: '26s' }],
        },
      }),
      26_000,
    ],
  ])('%s: waits as long as an error within the stream asks', async ([format, piece, waitMs]) => {
    const { events, retries } = await ask(
      [{ pieces: [piece] }, { pieces: [WHOLE[format]] }],
      format,
    );
    expect(textOf(events)).toBe('whole');
    expect(retries).toEqual([{ waitMs, code: 'PROVIDER_RATE_LIMIT' }]);
  });

  test('waits as long as the header asks, if the body asks for something else', async () => {
    const { retries } = await ask([
      {
        status: 429,
        headers: { 'retry-after': '7' },
        pieces: ['{"error":{"message":"Please retry in 9s"}}'],
      },
      { pieces: [WHOLE['openai-chat']] },
    ]);
    expect(retries).toEqual([{ waitMs: 7000, code: 'PROVIDER_RATE_LIMIT' }]);
  });

  test.for([
    ['an error as its first event', { pieces: [sse({ error: { message: 'x', code: 503 } })] }],
    ['an empty stream', { pieces: [''] }],
    ['a connection that breaks at once', { pieces: [': hello\n\n'], end: 'reset' }],
  ] as const)('is repeated after %s', async ([, first]) => {
    const { events } = await ask([first, { pieces: [WHOLE['openai-chat']] }]);
    expect(textOf(events)).toBe('whole');
    expect(events.filter(({ type }) => type === 'error')).toEqual([]);
  });

  test.for([400, 401, 404])('%i is not repeated', async (status) => {
    const { server } = await ask([{ status, pieces: ['{"error":{"message":"no"}}'] }]);
    expect(server.requests).toHaveLength(1);
  });
});

test('after the first event nothing is repeated', async () => {
  const { events, server } = await ask([
    { pieces: [sse(content('half'))], end: 'reset' },
    { pieces: [WHOLE['openai-chat']] },
  ]);
  expect(textOf(events)).toBe('half');
  expect(events.at(-1)).toMatchObject({ error: { code: 'STREAM_BROKEN' } });
  expect(server.requests).toHaveLength(1);
});

test('an abort ends a wait, whose caller has been told of it', async () => {
  const server = await serve([BUSY]);
  const clock = createFakeClock();
  const scheduled = vi.spyOn(clock, 'schedule');
  const adapter = createAdapterOf('openai-chat', { baseUrl: server.url, clock });
  const controller = new AbortController();
  const { signal } = controller;
  const told: string[] = [];
  const wait: SendOptions['wait'] = async (begin) => {
    told.push('begins');
    await begin();
    told.push('ends');
  };
  const answer = collect(adapter.sendMessagesStreaming(QUESTION, { signal, wait }));
  // The time in which the server may answer, then the wait.
  await vi.waitFor(() => expect(scheduled).toHaveBeenCalledTimes(2));
  expect(told).toEqual(['begins']);
  controller.abort();
  expect(await answer).toMatchObject([{ type: 'error', error: { code: 'ABORTED' } }]);
  expect(told).toEqual(['begins', 'ends']);
  expect(server.requests).toHaveLength(1);
  expect(clock.pending()).toBe(0);
});

describe('the wait', () => {
  test('grows, has a bound, and half of it is chance', () => {
    const waits = (random: number): number[] =>
      Array.from({ length: 6 }, (_, attempt) =>
        retryWait(DEFAULT_RETRY, attempt, undefined, () => random),
      );
    expect(waits(0)).toEqual([250, 500, 1000, 2000, 4000, 4000]);
    expect(waits(1)).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
  });

  test('is what the server asks for, up to a bound', () => {
    expect(retryWait(DEFAULT_RETRY, 0, 0, Math.random)).toBe(0);
    expect(retryWait(DEFAULT_RETRY, 0, 30_000, Math.random)).toBe(30_000);
    expect(retryWait(DEFAULT_RETRY, 0, 86_400_000, Math.random)).toBe(60_000);
  });

  test.for([
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, 5000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{}, undefined],
  ] as const)('%j is %s', ([headers, expected]) => {
    expect(
      readRetryAfter((name) => new Headers(headers).get(name) ?? undefined, Date.UTC(2026, 0, 1)),
    ).toBe(expected);
  });
});

import { OrionError } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import { closedPort } from '../scripted/byte-server.ts';
import { ask, collect, errorOf, QUESTION, receive, serve } from '../testing/streams.ts';
import { createOpenAiCompatibleAdapter } from './adapter.ts';

const KEY = 'sk-canary-0123456789abcdef';

const failure = (status: number, error: object, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  pieces: [JSON.stringify({ error })],
});

describe('a refused request', () => {
  test.for([
    [401, { message: 'Incorrect API key', code: 'invalid_api_key' }, 'PROVIDER_AUTH', false],
    [403, { message: 'No access' }, 'PROVIDER_AUTH', false],
    [429, { message: 'Slow down', type: 'rate_limit_error' }, 'PROVIDER_RATE_LIMIT', true],
    [429, { message: 'No credit', code: 'insufficient_quota' }, 'PROVIDER_RATE_LIMIT', false],
    [402, { message: 'Insufficient Balance' }, 'PROVIDER_RATE_LIMIT', false],
    [503, { message: 'Busy' }, 'PROVIDER_OVERLOADED', true],
    [503, { message: 'Context size has been exceeded.' }, 'PROVIDER_OVERLOADED', true],
    [529, { message: 'Overloaded' }, 'PROVIDER_OVERLOADED', true],
    [500, { message: 'Oops' }, 'PROVIDER_ERROR', true],
    [408, { message: 'Timeout' }, 'PROVIDER_ERROR', true],
    [404, { message: 'No such model' }, 'PROVIDER_REQUEST', false],
    [400, { message: 'Bad' }, 'PROVIDER_REQUEST', false],
    [422, { message: 'Bad' }, 'PROVIDER_REQUEST', false],
    [400, { message: 'x', code: 'context_length_exceeded' }, 'PROVIDER_CONTEXT_LIMIT', false],
    [500, { message: 'Context size has been exceeded.' }, 'PROVIDER_CONTEXT_LIMIT', false],
    [400, { message: 'x', code: 'tool_use_failed' }, 'PROVIDER_ERROR', true],
    [
      400,
      { message: "This model's maximum context length is 8192 tokens." },
      'PROVIDER_CONTEXT_LIMIT',
      false,
    ],
    [413, { message: 'prompt is too long' }, 'PROVIDER_CONTEXT_LIMIT', false],
    [
      400,
      {
        message:
          'input length and `max_tokens` exceed context limit: 140000 + 64000 > 200000, decrease input length or `max_tokens` and try again',
      },
      'PROVIDER_CONTEXT_LIMIT',
      false,
    ],
    [
      400,
      { message: 'The input token count (3) exceeds the maximum number of tokens allowed (2).' },
      'PROVIDER_CONTEXT_LIMIT',
      false,
    ],
    [
      400,
      { message: "This model's maximum prompt length is 2 but the request contains 3 tokens." },
      'PROVIDER_CONTEXT_LIMIT',
      false,
    ],
    [
      400,
      { message: 'Your request exceeded model token limit: 2' },
      'PROVIDER_CONTEXT_LIMIT',
      false,
    ],
  ] as const)('HTTP %i %j is %s', async ([status, error, code, retryable]) => {
    const events = await receive(failure(status, error));
    expect(events).toHaveLength(1);
    expect(errorOf(events)).toMatchObject({ code, retryable, hint: expect.stringMatching(/\S/) });
  });

  test('is not repeated', async () => {
    const server = await serve(failure(500, { message: 'Oops' }));
    await ask(server);
    expect(server.requests).toHaveLength(1);
  });

  test('says how long to wait', async () => {
    const events = await receive(failure(429, { message: 'Slow down' }, { 'retry-after': '7' }));
    expect(errorOf(events).message).toBe(
      'The provider limits the rate of requests (retry after 7): Slow down',
    );
  });

  test.for([
    ['a page', 502, '<html>\u001b[31m<h1>Bad Gateway</h1>\n</html>', 'PROVIDER_ERROR'],
    ['nothing', 500, '', 'PROVIDER_ERROR'],
    ['a text', 400, 'bad request', 'PROVIDER_REQUEST'],
    ['another object', 422, '{"detail":[{"msg":"nope"}]}', 'PROVIDER_REQUEST'],
    ['an error text', 400, '{"error":"nope"}', 'PROVIDER_REQUEST'],
  ] as const)('with %s as its body', async ([, status, body, code]) => {
    const error = errorOf(
      await receive({ status, pieces: [body], headers: { 'content-type': 'text/plain' } }),
    );
    expect(error.code).toBe(code);
    // oxlint-disable-next-line no-control-regex -- none of them may be left
    expect(error.message).not.toMatch(/[\u0000-\u001f]/);
  });

  test('has the words of the provider behind a router', async () => {
    const raw = JSON.stringify({ message: 'prompt is too long: 3 tokens > 2 maximum' });
    const metadata = { raw, provider_name: 'Anthropic' };
    const error = errorOf(
      await receive(failure(400, { message: 'Provider returned error', code: 400, metadata })),
    );
    expect(error.code).toBe('PROVIDER_CONTEXT_LIMIT');
    expect(error.message).toContain('Provider returned error: {"message":"prompt is too long');
  });

  test('keeps its words short', async () => {
    const error = errorOf(await receive(failure(400, { message: 'x'.repeat(100_000) })));
    expect(error.message.length).toBeLessThan(500);
  });
});

/** As Google words every quota, used up for a minute or for a day. */
const quotaFailure = (quotaId: string) => ({
  code: 429,
  message:
    'You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: 10\nPlease retry in 26.53s.',
  status: 'RESOURCE_EXHAUSTED',
  details: [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [{ quotaId }],
    },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '26s' },
  ],
});

describe('a quota that is used up', () => {
  const MINUTE = quotaFailure('GenerateRequestsPerMinutePerProjectPerModel-FreeTier');
  const DAY = quotaFailure('GenerateRequestsPerDayPerProjectPerModel-FreeTier');
  const body = (value: unknown) => ({ status: 429, pieces: [JSON.stringify(value)] });

  test.for([
    ['for a minute', body({ error: MINUTE }), true, /limits the rate of requests/],
    ['for a minute, in a list', body([{ error: MINUTE }]), true, /limits the rate of requests/],
    ['for a day', body([{ error: DAY }]), false, /quota of the account for this day/],
    [
      'for a day, as a gateway passes it on',
      body({ error: { message: JSON.stringify({ error: DAY }), code: 429 } }),
      false,
      /quota of the account for this day/,
    ],
    [
      'without a word on when it is renewed',
      body([{ error: { ...MINUTE, message: MINUTE.message.slice(0, 75), details: [] } }]),
      false,
      /out of credit/,
    ],
    [
      'by an account without credit, whatever its server says of the time',
      body({
        error: { message: 'No credit. Please try again in 20s', code: 'insufficient_quota' },
      }),
      false,
      /out of credit/,
    ],
  ] as const)('%s', async ([, answer, retryable, message]) => {
    const error = errorOf(await receive(answer));
    expect(error).toMatchObject({ code: 'PROVIDER_RATE_LIMIT', retryable });
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/^[^:]*: *\[/);
  });
});

describe('the API key', () => {
  test.for([
    ['an error answer', failure(401, { message: `Incorrect API key provided: ${KEY}.` })],
    [
      'an error answer, where it would be cut',
      failure(400, { message: `${'x'.repeat(390)}${KEY}` }),
    ],
    ['a retry header', failure(429, { message: 'wait' }, { 'retry-after': KEY })],
    ['a plain body', { status: 400, pieces: [`Authorization: Bearer ${KEY}`] }],
    ['a chunk', { pieces: [`data: {"error":{"message":"key ${KEY}"}}\n\n`] }],
    ['data that is not JSON', { pieces: [`data: {key: "${KEY}"\n\n`] }],
  ] as const)('never appears in an error: echoed in %s', async ([, answer]) => {
    const server = await serve(answer);
    const events = await ask(server, {}, { apiKey: KEY });
    expect(server.requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(events.at(-1)?.type).toBe('error');
    expect(JSON.stringify(events)).not.toContain('canary');
    expect(JSON.stringify(events)).not.toMatch(/sk-c/);
  });

  test('that no header can carry is refused without being quoted', () => {
    for (const apiKey of ['sk-canary\nInjected: 1', 'sk-canary ü', 'sk canary']) {
      const create = (): unknown => createOpenAiCompatibleAdapter({ model: 'm', apiKey });
      expect(create).toThrow(OrionError);
      expect(create).not.toThrow(/canary/);
    }
  });

  test('may have line ends around it, as files of keys do', async () => {
    const server = await serve('data: [DONE]\n\n');
    await ask(server, {}, { apiKey: ` ${KEY}\n` });
    expect(server.requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
  });
});

describe('a server that cannot be reached', () => {
  test('is named by host and port', async () => {
    const port = await closedPort();
    const adapter = createOpenAiCompatibleAdapter({
      model: 'm',
      apiKey: KEY,
      baseUrl: `http://127.0.0.1:${port}/v1`,
    });
    const events = await collect(adapter.sendMessagesStreaming(QUESTION, {}));
    expect(events).toEqual([
      {
        type: 'error',
        error: {
          code: 'PROVIDER_UNREACHABLE',
          message: `No connection to 127.0.0.1:${port} (ECONNREFUSED)`,
          retryable: true,
          hint: 'Check the network and the base URL, then try again.',
        },
      },
    ]);
  });

  test('that answers with nothing for too long is unreachable', async () => {
    let arrived = 0;
    const server = await serve(() => {
      arrived += 1;
      return { pieces: [], end: 'open' };
    });
    const slow: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      // Only the head counts, so it is what has to be late.
      await new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () =>
          reject(new DOMException('aborted', 'AbortError')),
        );
      });
      return response;
    };
    const events = await ask(server, {}, { connectTimeoutMs: 400, fetch: slow });
    expect(arrived).toBe(1);
    expect(errorOf(events)).toMatchObject({
      code: 'PROVIDER_UNREACHABLE',
      message: `${server.address} did not answer in time`,
    });
  });

  test('that closes the connection before it answers broke it', async () => {
    const server = await serve(() => {
      throw new Error('no answer');
    });
    const asked = ask(server);
    setTimeout(() => void server.close(), 100);
    expect(errorOf(await asked).code).toBe('STREAM_BROKEN');
  });
});

test.for(['', 'localhost:11434', 'ftp://host/v1', 'http://user:secret@host/v1'])(
  'the base URL %j is refused at once, without being quoted',
  (baseUrl) => {
    const create = (): unknown => createOpenAiCompatibleAdapter({ model: 'm', baseUrl });
    expect(create).toThrow(OrionError);
    expect(create).not.toThrow(/secret/);
  },
);

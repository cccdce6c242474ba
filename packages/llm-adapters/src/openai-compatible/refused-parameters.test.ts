import { describe, expect, test } from 'vitest';

import type { Answer } from '../scripted/byte-server.ts';
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
import { quirksOf } from './quirks.ts';

const GOOD: Answer = { pieces: [sse(content('a'), STOP, DONE)] };

const refusing = (message: string, param: string | null = null, status = 400): Answer => ({
  status,
  pieces: [
    JSON.stringify({ error: { message, type: 'invalid_request_error', param, code: null } }),
  ],
});

const bodies = (requests: readonly { readonly body: unknown }[]) =>
  requests.map((request) => request.body as Record<string, unknown>);

describe('a refused parameter', () => {
  test('is left out once, and in later requests too', async () => {
    const server = await serve([
      refusing("Unsupported value: 'temperature' does not support 0.3", 'temperature'),
      GOOD,
    ]);
    const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url });
    for (let count = 0; count < 2; count += 1) {
      const events = await collect(adapter.sendMessagesStreaming(QUESTION, { temperature: 0.3 }));
      expect(textOf(events)).toBe('a');
    }
    expect(bodies(server.requests).map((body) => body['temperature'])).toEqual([
      0.3,
      undefined,
      undefined,
    ]);
  });

  test('max_tokens is swapped for its other name', async () => {
    const server = await serve([
      refusing(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
      ),
      GOOD,
    ]);
    expect(textOf(await ask(server))).toBe('a');
    expect(
      bodies(server.requests).map((body) => [body['max_tokens'], body['max_completion_tokens']]),
    ).toEqual([
      [8192, undefined],
      [undefined, 8192],
    ]);
  });

  test('max_tokens whose value is refused is left out', async () => {
    const server = await serve([
      refusing('max_tokens is too large: 8192. At most 4096 are possible.'),
      GOOD,
    ]);
    expect(textOf(await ask(server))).toBe('a');
    expect(bodies(server.requests)[1]).not.toHaveProperty('max_tokens');
    expect(bodies(server.requests)[1]).not.toHaveProperty('max_completion_tokens');
  });

  test('may be named in the message only, also with status 422', async () => {
    const message =
      '[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]';
    const server = await serve([refusing(message, null, 422), GOOD]);
    expect(textOf(await ask(server))).toBe('a');
    expect(bodies(server.requests)[1]).not.toHaveProperty('stream_options');
  });

  test('each parameter gets one chance', async () => {
    const server = await serve([refusing('no temperature'), refusing('no stream_options'), GOOD]);
    expect(textOf(await ask(server, { temperature: 1 }))).toBe('a');
    expect(server.requests).toHaveLength(3);
  });

  test('is left out of requests that were on their way together', async () => {
    const server = await serve(({ body }) =>
      Object.hasOwn(body as object, 'stream_options')
        ? { ...refusing('Unknown parameter: stream_options'), pauseMs: 20 }
        : GOOD,
    );
    const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url });
    const answers = await Promise.all(
      [1, 2].map(() => collect(adapter.sendMessagesStreaming(QUESTION, {}))),
    );
    expect(answers.map(textOf)).toEqual(['a', 'a']);
    expect(bodies(server.requests).map((body) => 'stream_options' in body)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('that is refused again is an error', async () => {
    const server = await serve(refusing('temperature, temperature!', 'temperature'));
    expect(errorOf(await ask(server, { temperature: 1 })).code).toBe('PROVIDER_REQUEST');
    expect(server.requests).toHaveLength(2);
  });

  test('that was not sent is not left out', async () => {
    const server = await serve(refusing("Unsupported parameter: 'temperature'", 'temperature'));
    expect(errorOf(await ask(server)).code).toBe('PROVIDER_REQUEST');
    expect(server.requests).toHaveLength(1);
  });

  test('that is required is never left out', async () => {
    const server = await serve(refusing("Invalid value for 'messages'", 'messages'));
    await ask(server);
    expect(server.requests).toHaveLength(1);
  });
});

describe('what is known of servers', () => {
  test.for([
    ['api.openai.com', 'gpt-4.1', 'max_completion_tokens', 'as-given'],
    ['api.openai.com', 'o4-mini', 'max_completion_tokens', 'never'],
    ['openrouter.ai', 'openai/gpt-5-mini', 'max_completion_tokens', 'never'],
    ['openrouter.ai', 'openai/gpt-5-chat-latest', 'max_tokens', 'as-given'],
    ['api.deepseek.com', 'deepseek-chat', 'max_tokens', 'as-given'],
    ['127.0.0.1', 'olmo-2', 'max_tokens', 'as-given'],
    ['127.0.0.1', 'openhermes', 'max_tokens', 'as-given'],
  ] as const)('%s with %s', ([host, model, limitParameter, temperature]) => {
    expect(quirksOf(host, model)).toEqual({ limitParameter, temperature });
  });
});

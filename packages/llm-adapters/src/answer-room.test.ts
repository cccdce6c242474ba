import type { Message, SendOptions } from '@orion/contracts';
import { expect, test } from 'vitest';

import type { AdapterOptions } from './adapter-options.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import { ONCE, collect, serve } from './testing/streams.ts';

/** Hazard: a limit of output tokens that does not fit the context together with the request. */

const CONTEXT = 128_000;
const conversation = (bytes: number): readonly Message[] => [
  { role: 'user', content: 'x'.repeat(bytes) },
];

async function limitSent(
  format: FormatName,
  messages: readonly Message[],
  send: SendOptions = {},
  options: Partial<AdapterOptions> = {},
): Promise<unknown> {
  const server = await serve({ status: 404, pieces: ['{}'] });
  const config = { model: 'deepseek-reasoner', baseUrl: server.url, retry: ONCE, ...options };
  await collect(createAdapterOf(format, config).sendMessagesStreaming(messages, send));
  const body = server.requests[0]?.body as Readonly<Record<string, unknown>>;
  return body['max_tokens'] ?? body['max_output_tokens'];
}

test.for(FORMATS)('%s: an answer gets what the request leaves of the context', async (format) => {
  expect(await limitSent(format, conversation(150_000))).toBe(65_536);
  const left = Number(await limitSent(format, conversation(240_000)));
  expect(left).toBeGreaterThan(47_000);
  expect(left).toBeLessThan(CONTEXT - 80_000);
  // The same rule holds for a limit that was set, and for the tools of a request.
  const set = { maxTokens: 60_000 };
  expect(await limitSent(format, conversation(240_000), {}, set)).toBe(left);
  const description = 'x'.repeat(30_000);
  const tools = [{ name: 'f', description, parameters: { type: 'object', properties: {} } }];
  expect(await limitSent(format, conversation(240_000), { tools })).toBeLessThan(left - 10_000);
});

test('an eighth of the context is left to an answer, because the estimate is rough', async () => {
  expect(await limitSent('openai-chat', conversation(1_000_000))).toBe(CONTEXT / 8);
  const small = { limits: { contextTokens: 4096 } };
  expect(await limitSent('openai-chat', conversation(20_000), {}, small)).toBe(1024);
});

test('a limit below that stays, as does one of a model whose context is unknown', async () => {
  expect(await limitSent('openai-chat', conversation(1_000_000), { max_tokens: 64 })).toBe(64);
  const unknown = { model: 'qwen3' };
  expect(await limitSent('openai-chat', conversation(1_000_000), {}, unknown)).toBe(8192);
});

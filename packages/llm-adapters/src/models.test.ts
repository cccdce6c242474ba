import { expect, test } from 'vitest';

import { modelLimits } from './models.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import { ONCE, QUESTION, collect, serve } from './testing/streams.ts';

test.for([
  ['gpt-4.1-mini', 1_047_576, 32_768, false, true],
  ['gpt-5', 400_000, 128_000, false, false],
  ['gpt-5-chat-latest', 128_000, 16_384, false, true],
  ['o3-mini', 200_000, 100_000, false, false],
  ['openai/gpt-4o', 128_000, 16_384, false, true],
  ['claude-sonnet-4-5-20250929', 200_000, 64_000, true, true],
  ['claude-opus-4-1', 200_000, 32_000, true, true],
  // From here on a request must not end with the model's own words.
  ['claude-opus-4-6', 200_000, 64_000, false, true],
  ['claude-opus-4-7', 200_000, 64_000, false, false],
  ['claude-sonnet-5', 200_000, 64_000, false, false],
  ['anthropic/claude-haiku-4-5', 200_000, 64_000, true, true],
  ['DeepSeek-Chat', 128_000, 8192, false, true],
] as const)(
  '%s has a context of %i, answers of %i tokens, prefill %s, temperature %s (R143)',
  ([name, contextTokens, outputTokens, prefill, temperature]) => {
    expect(modelLimits(name)).toEqual({ contextTokens, outputTokens, prefill, temperature });
  },
);

test.for(['', 'qwen3', 'my-gpt-4', 'o1x', 'claude'])('nothing is claimed of %j', (name) => {
  expect(modelLimits(name)).toEqual({
    contextTokens: null,
    outputTokens: null,
    prefill: false,
    temperature: false,
  });
});

test.for(FORMATS)(
  '%s: an answer may be as long as the model makes it, or as long as one says',
  async (format) => {
    const server = await serve({ status: 404, pieces: ['{}'] });
    for (const options of [
      { model: 'gpt-4.1' },
      { model: 'qwen3' },
      { model: 'gpt-4.1', maxTokens: 500 },
    ]) {
      const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE, ...options });
      await collect(adapter.sendMessagesStreaming(QUESTION, {}));
    }
    const limits = server.requests.map(({ body }) => {
      const fields = body as Readonly<Record<string, unknown>>;
      return fields['max_tokens'] ?? fields['max_output_tokens'];
    });
    expect(limits).toEqual([32_768, 8192, 500]);
  },
);

test('what is said of a model beside its name wins', () => {
  const limits = { prefill: true, contextTokens: 1000 };
  const adapter = createAdapterOf('openai-chat', {
    model: 'gpt-4.1',
    baseUrl: 'http://h/v1',
    limits,
  });
  expect(adapter.limits).toEqual({
    contextTokens: 1000,
    outputTokens: 32_768,
    prefill: true,
    temperature: true,
  });
});

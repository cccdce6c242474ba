import { describe, expect, test } from 'vitest';

import { MODEL_ALIASES, PROVIDER_NAMES, createAdapter } from './index.ts';
import type { AdapterConfig } from './index.ts';
import { DONE, QUESTION, collect, serve, sse, textOf } from './testing/streams.ts';

async function refusal(config: AdapterConfig): Promise<unknown> {
  return await createAdapter(config).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('openai is any chat-completions server', async () => {
  const server = await serve(sse(DONE));
  const adapter = await createAdapter({ provider: 'openai', model: 'm', baseUrl: server.url });
  await collect(adapter.sendMessagesStreaming(QUESTION, {}));
  await adapter.close();
  expect(adapter).toMatchObject({ name: 'openai', model: 'm' });
  expect(server.requests[0]?.body).toMatchObject({ model: 'm' });
});

test('scripted answers from its script', async () => {
  const script = { behaviours: [{ reply: { text: 'Hi.' } }] };
  for (const given of [script, JSON.stringify(script)]) {
    const adapter = await createAdapter({ provider: 'scripted', script: given });
    expect(textOf(await collect(adapter.sendMessagesStreaming(QUESTION, {})))).toBe('Hi.');
    await adapter.close();
  }
});

test('an alias brings its model and base URL, which the configuration may change', async () => {
  expect(await createAdapter({ provider: 'deepseek', apiKey: 'k' })).toMatchObject({
    name: 'openai',
    model: 'deepseek-chat',
  });
  const server = await serve(sse(DONE));
  const adapter = await createAdapter({ provider: 'deepseek', baseUrl: server.url, model: 'mine' });
  await collect(adapter.sendMessagesStreaming(QUESTION, {}));
  expect(server.requests[0]?.body).toMatchObject({ model: 'mine' });
});

test('every alias leads to a provider of this version', () => {
  for (const alias of Object.values(MODEL_ALIASES))
    expect(PROVIDER_NAMES).toContain(alias.provider);
});

describe('a configuration that cannot work', () => {
  test('an unknown provider lists the known ones', async () => {
    for (const provider of ['openia', '', 'constructor']) {
      expect(await refusal({ provider, model: 'm', apiKey: 'k' })).toMatchObject({
        code: 'PROVIDER_UNKNOWN',
        hint: expect.stringContaining('openai, openai-responses, anthropic, scripted'),
      });
    }
  });

  test('no model, no key, no script', async () => {
    expect(await refusal({ provider: 'openai', apiKey: 'k' })).toMatchObject({
      code: 'MODEL_MISSING',
    });
    expect(await refusal({ provider: 'openai', model: 'm' })).toMatchObject({
      code: 'API_KEY_MISSING',
    });
    expect(await refusal({ provider: 'deepseek' })).toMatchObject({ code: 'API_KEY_MISSING' });
    expect(await refusal({ provider: 'scripted' })).toMatchObject({
      code: 'CONFIG_INVALID',
      hint: 'Pass it as `script`.',
    });
  });

  test('a wrong script', async () => {
    const error = await refusal({ provider: 'scripted', script: '{"behaviours":[{"reply":{}}]}' });
    expect(error).toMatchObject({
      code: 'SCRIPT_INVALID',
      message: expect.stringContaining('behaviours[0].reply'),
    });
  });
});

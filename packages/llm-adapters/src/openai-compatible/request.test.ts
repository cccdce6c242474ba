import type { Message, SendOptions } from '@orion/contracts';
import { expect, test } from 'vitest';

import { DONE, collect, serve, sse } from '../testing/streams.ts';
import { createOpenAiCompatibleAdapter } from './adapter.ts';
import type { OpenAiCompatibleOptions } from './adapter.ts';

async function sent(
  messages: readonly Message[],
  send: SendOptions = {},
  options: Partial<OpenAiCompatibleOptions> = {},
): Promise<Record<string, unknown>> {
  const server = await serve(sse(DONE));
  const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url, ...options });
  expect(await collect(adapter.sendMessagesStreaming(messages, send))).toEqual([
    { type: 'finish', reason: 'stop' },
  ]);
  return server.requests[0]?.body as Record<string, unknown>;
}

const HELLO: Message = { role: 'user', content: 'Hello' };

test('the smallest request', async () => {
  expect(await sent([HELLO])).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 8192,
  });
});

test('calls and their results, a system message in between', async () => {
  const body = await sent([
    { role: 'system', content: 'Be brief.' },
    HELLO,
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'a', name: 'read_file', arguments: '{"path":"x"}', state: 'complete' },
        { id: 'b', name: 'read_file', arguments: '{"path":"half', state: 'cut' },
      ],
    },
    { role: 'tool', toolCallId: 'a', toolName: 'read_file', content: 'text' },
    { role: 'tool', toolCallId: 'b', toolName: 'read_file', content: '' },
    { role: 'system', content: 'Notice.' },
  ]);
  expect(body['messages']).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'read_file', arguments: '{"path":"x"}' } },
        { id: 'b', type: 'function', function: { name: 'read_file', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'text' },
    { role: 'tool', tool_call_id: 'b', content: '' },
    { role: 'system', content: 'Notice.' },
  ]);
});

test('the system messages at the beginning are one', async () => {
  const body = await sent([
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: ' ' },
    { role: 'system', content: 'Answer in JSON.' },
    HELLO,
  ]);
  expect(body['messages']).toEqual([
    { role: 'system', content: 'Be brief.\n\nAnswer in JSON.' },
    { role: 'user', content: 'Hello' },
  ]);
});

test('empty messages are left out, an assistant message with calls is not', async () => {
  const body = await sent([
    { role: 'system', content: '' },
    HELLO,
    { role: 'assistant', content: ' \n' },
    { role: 'assistant', content: 'Hi', toolCalls: [] },
    { role: 'user', content: '' },
  ]);
  expect(body['messages']).toEqual([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hi' },
  ]);
});

test('options of the request go before those of the adapter', async () => {
  const adapter = { temperature: 0.7, maxTokens: 100 };
  expect(await sent([HELLO], {}, adapter)).toMatchObject({ temperature: 0.7, max_tokens: 100 });
  expect(await sent([HELLO], { temperature: 0, max_tokens: 5 }, adapter)).toMatchObject({
    temperature: 0,
    max_tokens: 5,
  });
});

test('tools and their choice; a choice without tools is not sent', async () => {
  const tools = [
    { name: 'f', description: 'Does it', parameters: { type: 'object', properties: {} } },
  ];
  expect(await sent([HELLO], { tools, tool_choice: 'none' })).toMatchObject({
    tools: [{ type: 'function', function: tools[0] }],
    tool_choice: 'none',
  });
  const without = await sent([HELLO], { tools: [], tool_choice: 'auto' });
  expect(without).not.toHaveProperty('tools');
  expect(without).not.toHaveProperty('tool_choice');
});

test('a response format', async () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false };
  const body = await sent([HELLO], {
    responseFormat: { type: 'json_schema', name: 'step', schema },
  });
  expect(body['response_format']).toEqual({
    type: 'json_schema',
    json_schema: { name: 'step', schema, strict: true },
  });
  expect(await sent([HELLO], { responseFormat: { type: 'text' } })).not.toHaveProperty(
    'response_format',
  );
});

test('messages are not changed, and the context is not sent', async () => {
  const messages = Object.freeze([Object.freeze({ ...HELLO })]);
  const body = await sent(messages, { context: { requestId: 'secret-id', projectId: 'p' } });
  expect(JSON.stringify(body)).not.toContain('secret-id');
});

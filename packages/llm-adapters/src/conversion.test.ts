import type { JsonObject, Message, SendOptions } from '@orion/contracts';
import { expect, test } from 'vitest';

import { REQUEST_READERS, checkRequest } from './scripted/requests/check.ts';
import { FORMATS, createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import { ONCE, collect, serve } from './testing/streams.ts';

const call = (id: string, args: string, state: 'complete' | 'cut' = 'complete') => ({
  id,
  name: 'read_file',
  arguments: args,
  state,
});
const result = (toolCallId: string, content: string): Message => ({
  role: 'tool',
  toolCallId,
  toolName: 'read_file',
  content,
});

/** A conversation that went through several providers, each with its own way to name calls. */
const CONVERSATION: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Read.' },
  { role: 'assistant', content: 'Reading.', toolCalls: [call('call_0', '{"path":"a"}')] },
  result('call_0', 'A'),
  // A local server that numbers its calls anew in every message.
  {
    role: 'assistant',
    content: '',
    toolCalls: [call('call_0', '{"path":"b"}'), call('call_1', '{"path":"ha', 'cut')],
  },
  result('call_0', 'B'),
  result('call_1', ''),
  // A router's id, with characters and a length of its own, and a name that is not offered.
  {
    role: 'assistant',
    content: '',
    toolCalls: [
      { ...call(`functions.read_file:${'7'.repeat(80)}`, '{}'), name: 'functions.read file' },
    ],
  },
  result(`functions.read_file:${'7'.repeat(80)}`, 'C'),
  { role: 'assistant', content: '' },
  { role: 'assistant', content: 'Half of it\n' },
  { role: 'user', content: 'And then?' },
  { role: 'system', content: 'Answer now.' },
];

async function sent(
  format: FormatName,
  messages: readonly Message[],
  options: SendOptions = {},
): Promise<Record<string, unknown>> {
  // The server answers a request that its provider would refuse with 418.
  const server = await serve({ status: 404, pieces: ['{}'] });
  const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE });
  const events = await collect(adapter.sendMessagesStreaming(messages, options));
  expect(events).toMatchObject([{ error: { message: expect.stringContaining('404') } }]);
  const [request] = server.requests;
  expect(checkRequest(request?.path ?? '', request?.body)).toEqual([]);
  return request?.body as Record<string, unknown>;
}

const TOOLS: SendOptions = {
  tools: [
    {
      name: 'read_file',
      description: 'Reads.',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' } },
        anyOf: [{ required: ['path'] }],
      },
    },
  ],
  tool_choice: 'none',
};

test.for(FORMATS)(
  '%s continues a conversation from elsewhere, and its request contains everything that was said',
  async (format) => {
    const body = await sent(format, CONVERSATION, format === 'anthropic-messages' ? TOOLS : {});
    const text = JSON.stringify(body);
    for (const message of CONVERSATION) {
      if (message.content.trim() !== '')
        expect(text).toContain(JSON.stringify(message.content).slice(1, -1));
    }
    const wire = {
      'openai-chat': 'chat',
      'openai-responses': 'responses',
      'anthropic-messages': 'messages',
    } as const;
    const messages = REQUEST_READERS[wire[format]](body).request?.messages ?? [];
    expect(messages.filter(({ role }) => role === 'tool').map((message) => message.text)).toEqual([
      'A',
      'B',
      '',
      'C',
    ]);
    expect(
      messages.filter(({ role }) => role === 'assistant').map((message) => message.text),
    ).toContain('Half of it\n');
  },
);

test.for(FORMATS)('%s offers a tool whatever its schema leaves out or allows', async (format) => {
  const schemas: readonly JsonObject[] = [
    { type: 'object' },
    { type: 'object', properties: {}, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    { type: 'object', allOf: [], oneOf: [], enum: [{}], not: {} },
    {
      type: 'object',
      properties: { list: { type: 'array' }, lists: { type: 'array', items: { type: 'array' } } },
    },
  ];
  const tools = schemas.map((parameters, index) => ({
    name: `tool_${index}`,
    description: 'Of a server.',
    parameters,
  }));
  const body = await sent(format, [{ role: 'user', content: 'x' }], { tools });
  expect(body['tools']).toHaveLength(tools.length);
});

test('Messages: roles alternate, results come first, ids are used once, marks are at the ends', async () => {
  const body = await sent('anthropic-messages', CONVERSATION, TOOLS);
  const mark = { cache_control: { type: 'ephemeral' } };
  const long = `functions_read_file_${'7'.repeat(80)}`.slice(0, 64);
  expect(body).toEqual({
    model: 'm',
    max_tokens: 8192,
    stream: true,
    system: [{ type: 'text', text: 'Be brief.', ...mark }],
    tools: [
      {
        name: 'read_file',
        description: 'Reads.',
        input_schema: {
          type: 'object',
          properties: { path: { type: 'string' } },
          required: ['path'],
        },
        ...mark,
      },
    ],
    tool_choice: { type: 'none' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Read.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Reading.' },
          { type: 'tool_use', id: 'call_0', name: 'read_file', input: { path: 'a' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: 'A' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_0_2', name: 'read_file', input: { path: 'b' } },
          // The arguments were cut, and the call was not run; its result said so.
          { type: 'tool_use', id: 'call_1', name: 'read_file', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_0_2', content: 'B' },
          { type: 'tool_result', tool_use_id: 'call_1' },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: long, name: 'functions_read_file', input: {} }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: long, content: 'C' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Half of it\n' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And then?' },
          { type: 'text', text: 'Answer now.', ...mark },
        ],
      },
    ],
  });
});

test('Messages: an answer that the request begins has no white space at its end', async () => {
  const body = await sent('anthropic-messages', [
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content: 'line 1\nline 2\n' },
  ]);
  expect(body['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: [{ text: 'line 1\nline 2' }] },
  ]);
});

const FORMAT: SendOptions = {
  responseFormat: {
    type: 'json_schema',
    name: 'answer',
    schema: {
      type: 'object',
      properties: { n: { type: 'integer', minimum: 1 } },
      additionalProperties: false,
    },
  },
  temperature: 0.5,
  max_tokens: 99,
};

test('Messages: a structured answer in a schema that can be held to', async () => {
  expect(await sent('anthropic-messages', [{ role: 'user', content: 'x' }], FORMAT)).toMatchObject({
    temperature: 0.5,
    max_tokens: 99,
    output_config: {
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { n: { type: 'integer' } },
          additionalProperties: false,
        },
      },
    },
  });
});

test('Responses: the conversation as items', async () => {
  expect(
    await sent('openai-responses', CONVERSATION.slice(0, 4), {
      ...FORMAT,
      ...TOOLS,
      tool_choice: 'required',
    }),
  ).toEqual({
    model: 'm',
    stream: true,
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: 'Read.' },
      { role: 'assistant', content: 'Reading.' },
      { type: 'function_call', call_id: 'call_0', name: 'read_file', arguments: '{"path":"a"}' },
      { type: 'function_call_output', call_id: 'call_0', output: 'A' },
    ],
    temperature: 0.5,
    max_output_tokens: 99,
    tools: [
      {
        type: 'function',
        name: 'read_file',
        description: 'Reads.',
        parameters: {
          type: 'object',
          properties: { path: { type: 'string' } },
          required: ['path'],
        },
        strict: false,
      },
    ],
    tool_choice: 'required',
    text: {
      format: {
        type: 'json_schema',
        name: 'answer',
        schema: FORMAT.responseFormat?.type === 'json_schema' ? FORMAT.responseFormat.schema : {},
        strict: true,
      },
    },
  });
});

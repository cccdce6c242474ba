import type { AssistantMessage, LlmEvent, Message, ToolCall } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import { MOST_CHARACTERS } from './provider-data.ts';
import {
  MESSAGE_START,
  MESSAGE_STOP,
  callBlock,
  messageEnd,
  namedEvents,
  textBlock,
} from './testing/named-events.ts';
import { createAdapterOf } from './testing/providers.ts';
import type { FormatName } from './testing/providers.ts';
import {
  DONE,
  ONCE,
  QUESTION,
  STOP,
  chunk,
  collect,
  content,
  serve,
  sse,
} from './testing/streams.ts';

const ARGUMENTS = '{"path":"a"}';
const item = (index: number, type: string, fields: object) => ({
  type: `response.output_item.${type}`,
  output_index: index,
  item: fields,
});
const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'hm' }],
  encrypted_content: 'c2ln',
};
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'I look.' }],
};
const functionCall = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'read_file',
  arguments: ARGUMENTS,
};
const thinking = (index: number, signature: string) => [
  {
    type: 'content_block_start',
    index,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: 'h' } },
  { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: 'm' } },
  { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } },
  { type: 'content_block_stop', index },
];
const stop = (index: number) => ({ type: 'content_block_stop', index });
const hidden = {
  type: 'content_block_start',
  index: 2,
  content_block: { type: 'redacted_thinking', data: 'ZGF0YQ' },
};
const signed = { google: { thought_signature: 'c2ln' } };
const chatCall = {
  tool_calls: [
    {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'read_file', arguments: ARGUMENTS },
      extra_content: signed,
    },
  ],
};

/** Reasoning before a text, and before the call that follows it. */
const ANSWERS: Readonly<Record<FormatName, string>> = {
  'openai-chat': sse(content('I look.'), chunk(chatCall), chunk({}, 'tool_calls'), DONE),
  'openai-responses': namedEvents(
    item(0, 'done', reasoning),
    item(1, 'added', { ...message, content: [] }),
    item(1, 'done', message),
    item(2, 'done', { ...reasoning, id: 'rs_2' }),
    item(3, 'added', { ...functionCall, arguments: '' }),
    item(3, 'done', functionCall),
    { type: 'response.completed', response: { status: 'completed' } },
  ),
  'anthropic-messages': namedEvents(
    MESSAGE_START,
    ...thinking(0, 'c2ln'),
    ...textBlock(1, 'I look.'),
    stop(1),
    hidden,
    stop(2),
    ...callBlock(3, 'call_1', 'read_file', ARGUMENTS),
    stop(3),
    messageEnd('tool_use'),
    MESSAGE_STOP,
  ),
};

/** What the next request contains for the message of the answer. */
const SENT_BACK: Readonly<Record<FormatName, unknown>> = {
  'openai-chat': {
    role: 'assistant',
    content: 'I look.',
    tool_calls: [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'read_file', arguments: ARGUMENTS },
        extra_content: signed,
      },
    ],
  },
  'openai-responses': [
    reasoning,
    { role: 'assistant', content: 'I look.' },
    { ...reasoning, id: 'rs_2' },
    { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: ARGUMENTS },
  ],
  'anthropic-messages': {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'text', text: 'I look.' },
      { type: 'redacted_thinking', data: 'ZGF0YQ' },
      { type: 'tool_use', id: 'call_1', name: 'read_file', input: { path: 'a' } },
    ],
  },
};

function saidIn(events: readonly LlmEvent[]): AssistantMessage {
  const calls = events.flatMap((event) => (event.type === 'tool-call-end' ? [event.call] : []));
  const last = events.at(-1);
  return {
    role: 'assistant',
    content: 'I look.',
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
    ...(last?.type === 'finish' && last.providerData !== undefined
      ? { providerData: last.providerData }
      : {}),
  };
}

const answered = (said: AssistantMessage): readonly Message[] => [
  ...QUESTION,
  said,
  ...(said.toolCalls ?? []).map(({ id, name }): Message => ({
    role: 'tool',
    toolCallId: id,
    toolName: name,
    content: '1',
  })),
  { role: 'user', content: 'Go on' },
];

async function ask(format: FormatName, answer: string, model: string = 'm') {
  const server = await serve({ pieces: [answer] });
  const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE, model });
  const send = async (messages: readonly Message[]) =>
    await collect(adapter.sendMessagesStreaming(messages, {}));
  return { send, server };
}

function historyIn(body: unknown): unknown[] {
  const { messages, input } = body as { readonly messages?: unknown[]; readonly input?: unknown[] };
  return (messages ?? input ?? []).slice(1);
}

describe.for(['openai-chat', 'openai-responses', 'anthropic-messages'] as const)(
  'what a provider wants back: %s',
  (format) => {
    test('goes back word for word, at its place', async () => {
      const { send, server } = await ask(format, ANSWERS[format]);
      const said = saidIn(await send(QUESTION));
      await send(answered(structuredClone(said)));
      const sent = historyIn(server.requests[1]?.body);
      const expected = SENT_BACK[format];
      const count = Array.isArray(expected) ? expected.length : 1;
      expect(count === 1 ? sent[0] : sent.slice(0, count)).toEqual(expected);
    });

    test('is not sent to another model, nor to another provider', async () => {
      const said = saidIn(await (await ask(format, ANSWERS[format])).send(QUESTION));
      expect(JSON.stringify(said)).toMatch(/c2ln/);
      for (const [other, model] of [
        [format, 'another'],
        [format === 'openai-chat' ? 'openai-responses' : 'openai-chat', 'm'],
      ] as const) {
        const { send, server } = await ask(other, ANSWERS[other], model);
        await send(answered(said));
        expect(JSON.stringify(server.requests)).not.toMatch(/c2ln|ZGF0YQ/);
        expect(JSON.stringify(server.requests)).toContain('call_1');
      }
    });

    test('is checked before it is sent: a store may hold anything', async () => {
      const [call] =
        saidIn(await (await ask(format, ANSWERS[format])).send(QUESTION)).toolCalls ?? [];
      const data = call?.providerData;
      if (call === undefined || data === undefined) throw new Error('no data');
      const odd = [
        null,
        'x',
        [],
        { before_text: 'x', before_call: [1, { type: 'text', text: 'x' }] },
      ];
      for (const value of odd) {
        const { send, server } = await ask(format, ANSWERS[format]);
        const toolCalls: ToolCall[] = [{ ...call, providerData: { ...data, value } }];
        const events = await send(answered({ role: 'assistant', content: '', toolCalls }));
        // Chat completions take any object there; nothing else is let through.
        expect(events.at(-1)).toMatchObject({ type: 'finish' });
        expect(server.requests).toHaveLength(1);
      }
    });
  },
);

test('what follows no call goes back with its message', async () => {
  for (const [format, answer] of [
    [
      'openai-responses',
      namedEvents(item(0, 'done', reasoning), item(1, 'done', message), {
        type: 'response.completed',
        response: { status: 'completed' },
      }),
    ],
    [
      'anthropic-messages',
      namedEvents(
        MESSAGE_START,
        ...thinking(0, 'c2ln'),
        ...textBlock(1, 'I look.'),
        stop(1),
        messageEnd('end_turn'),
        MESSAGE_STOP,
      ),
    ],
  ] as const) {
    const { send, server } = await ask(format, answer);
    const said = saidIn(await send(QUESTION));
    expect(said.providerData).toMatchObject({ model: 'm' });
    await send(answered(said));
    expect(JSON.stringify(historyIn(server.requests[1]?.body)[0])).toContain('c2ln');
  }
});

test('servers of the Messages format get no unsigned reasoning back', async () => {
  const { send } = await ask(
    'anthropic-messages',
    namedEvents(
      MESSAGE_START,
      ...thinking(0, ''),
      ...callBlock(1, 'c', 'read_file', '{}'),
      stop(1),
      messageEnd('tool_use'),
      MESSAGE_STOP,
    ),
  );
  expect(saidIn(await send(QUESTION)).toolCalls).toEqual([
    { id: 'c', name: 'read_file', arguments: '{}', state: 'complete' },
  ]);
});

test.for([
  [0, true],
  [1, false],
] as const)('it is bounded: with %i characters too many it is kept: %s', async ([more, kept]) => {
  const empty = JSON.stringify({ google: '' }).length;
  const google = 'x'.repeat(MOST_CHARACTERS - empty + more);
  const big = chunk({
    tool_calls: [
      { index: 0, id: 'c', function: { name: 'f', arguments: '{}' }, extra_content: { google } },
    ],
  });
  const { send } = await ask('openai-chat', sse(big, STOP, DONE));
  const [call] = saidIn(await send(QUESTION)).toolCalls ?? [];
  expect(call).toMatchObject({ id: 'c', state: 'complete' });
  expect(call?.providerData !== undefined).toBe(kept);
});

test('only what reasons at OpenAI is asked for reasoning that can go back', async () => {
  const { responsesQuirks } = await import('./openai-responses/quirks.ts');
  expect(responsesQuirks('api.openai.com', 'gpt-5').encryptedReasoning).toBe(true);
  expect(responsesQuirks('api.openai.com', 'gpt-4.1').encryptedReasoning).toBe(false);
  expect(responsesQuirks('localhost', 'gpt-5').encryptedReasoning).toBe(false);
});

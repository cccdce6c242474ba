import type { AssistantMessage, LlmEvent, Message, ToolCall } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import type { Answer } from '../scripted/byte-server.ts';
import {
  DONE,
  ONCE,
  QUESTION,
  STOP,
  chunk,
  collect,
  content,
  errorOf,
  serve,
  sse,
  textOf,
} from '../testing/streams.ts';
import { createOpenAiCompatibleAdapter } from './adapter.ts';

/** Hazard: thinking models whose server refuses a conversation with calls that have lost the reasoning before them. */

const DEEPSEEK = 'The `reasoning_content` in the thinking mode must be passed back to the API.';
const DEEPSEEK_BEFORE_V4 =
  'Missing `reasoning_content` field in the assistant message at message index 1';
const KIMI =
  'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1';
const GROQ =
  "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]";
const CEREBRAS =
  "messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported";
const MISTRAL = [
  {
    type: 'extra_forbidden',
    loc: ['body', 'messages', 1, 'assistant', 'reasoning_content'],
    msg: 'Extra inputs are not permitted',
    input: 'hm',
  },
];

const GOOD: Answer = { pieces: [sse(content('a'), STOP, DONE)] };
const refusing = (message: unknown, status = 400): Answer => ({
  status,
  pieces: [JSON.stringify({ error: { message, type: 'invalid_request_error', param: null } })],
});

const call = (more: object = {}) => ({
  tool_calls: [{ index: 0, id: 'c', function: { name: 'list', arguments: '{}' }, ...more }],
});
const thinking = (field: string, ...deltas: readonly object[]): Answer => ({
  pieces: [
    sse(
      chunk({ role: 'assistant', content: null, [field]: '' }),
      chunk({ [field]: 'First think, ' }),
      chunk({ [field]: 'then call.' }),
      ...deltas.map((delta) => chunk(delta)),
      chunk({}, 'tool_calls'),
      DONE,
    ),
  ],
});

const HISTORIC: ToolCall = { id: 'h', name: 'list', arguments: '{}', state: 'complete' };
const THOUGHT: ToolCall = {
  ...HISTORIC,
  providerData: { adapter: 'openai', model: 'm', value: { reasoning_content: 'hm' } },
};
const answered = (...said: readonly AssistantMessage[]): readonly Message[] => [
  ...QUESTION,
  ...said.flatMap((message): Message[] => [
    message,
    ...(message.toolCalls ?? []).map(({ id, name }): Message => ({
      role: 'tool',
      toolCallId: id,
      toolName: name,
      content: '1',
    })),
  ]),
  { role: 'user', content: 'Go on' },
];
const said = (...toolCalls: readonly ToolCall[]): AssistantMessage => ({
  role: 'assistant',
  content: '',
  toolCalls,
});
const callsIn = (events: readonly LlmEvent[]): readonly ToolCall[] =>
  events.flatMap((event) => (event.type === 'tool-call-end' ? [event.call] : []));

type Sent = { readonly role: string; readonly [field: string]: unknown };

async function connect(answers: Parameters<typeof serve>[0], model: string = 'm') {
  const server = await serve(answers);
  const adapter = createOpenAiCompatibleAdapter({ model, baseUrl: server.url, retry: ONCE });
  return {
    send: async (messages: readonly Message[]) =>
      await collect(adapter.sendMessagesStreaming(messages, {})),
    /** The assistant messages of every request. */
    sent: () =>
      server.requests.map(({ body }) =>
        (body as { readonly messages: readonly Sent[] }).messages.filter(
          ({ role }) => role === 'assistant',
        ),
      ),
  };
}

describe('the reasoning before a call', () => {
  test.for(['reasoning_content', 'reasoning'])('goes back as %s, as it came', async (field) => {
    const { send, sent } = await connect(thinking(field, call()));
    const calls = callsIn(await send(QUESTION));
    await send(answered(said(...structuredClone(calls))));
    expect(sent()[1]).toEqual([
      {
        role: 'assistant',
        content: '',
        [field]: 'First think, then call.',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'list', arguments: '{}' } }],
      },
    ]);
  });

  test('leaves what came with the call in its place', async () => {
    const signed = { google: { thought_signature: 'c2ln' } };
    const { send, sent } = await connect(
      thinking('reasoning', call({ extra_content: signed }), { reasoning: 'later' }),
    );
    await send(answered(said(...callsIn(await send(QUESTION)))));
    expect(sent()[1]).toMatchObject([
      { reasoning: 'First think, then call.', tool_calls: [{ extra_content: signed }] },
    ]);
  });

  test('is not sent to another model, and only as text', async () => {
    const data = { adapter: 'openai', model: 'm', value: { reasoning_content: 5 } };
    const { send, sent } = await connect(GOOD, 'another');
    await send(answered(said(THOUGHT)));
    expect(sent()[0]?.[0]).not.toHaveProperty('reasoning_content');
    const own = await connect(GOOD);
    await own.send(answered(said({ ...HISTORIC, providerData: data })));
    expect(Object.keys(own.sent()[0]?.[0] ?? {})).toEqual(['role', 'content', 'tool_calls']);
  });

  test.for([
    [0, 'x'.repeat(128 * 1024)],
    [1, ' '],
  ] as const)('with %i characters too many is kept as a blank', async ([more, expected]) => {
    const long = 'x'.repeat(128 * 1024 + more);
    const answer = sse(chunk({ reasoning: long }), chunk(call()), chunk({}, 'tool_calls'), DONE);
    const { send } = await connect({ pieces: [answer] });
    const [{ providerData } = HISTORIC] = callsIn(await send(QUESTION));
    expect(providerData?.value).toEqual({ reasoning: expected });
  });
});

test('the details of the reasoning go back with the message, each as if it had come whole', async () => {
  const text = { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1' };
  const encrypted = { type: 'reasoning.encrypted', id: 'c', index: 1, data: 'c2ln' };
  const answer = sse(
    chunk({ content: '', reasoning: 'th', reasoning_details: [{ ...text, text: 'th' }] }),
    chunk({ reasoning: 'ink', reasoning_details: [{ ...text, text: 'ink', signature: null }] }),
    chunk({ reasoning_details: [{ ...text, text: '', signature: 'c2ln' }] }),
    chunk({ reasoning_details: [{ ...text, text: '', signature: null }] }),
    chunk({ ...call(), reasoning_details: [encrypted] }),
    chunk({ reasoning_details: [encrypted] }),
    chunk({}, 'tool_calls'),
    DONE,
  );
  const { send, sent } = await connect({ pieces: [answer] });
  const events = await send(QUESTION);
  const last = events.at(-1);
  const data = last?.type === 'finish' ? last.providerData : undefined;
  const message = { ...said(...callsIn(events)), ...(data && { providerData: data }) };
  await send(answered(structuredClone(message)));
  const details = [{ ...text, text: 'think', signature: 'c2ln' }, encrypted, encrypted];
  expect(sent()[1]).toMatchObject([{ reasoning: 'think', reasoning_details: details }]);
});

test('details of different kinds or places stay apart, and beside text none is lost', async () => {
  const part = (type: string, index: number, text: string) => ({ type, index, text });
  const details = [
    part('reasoning.text', 0, 'a'),
    part('reasoning.text', 1, 'b'),
    part('reasoning.other', 1, 'c'),
  ];
  const deltas = details.map((detail) => ({ content: 'x', reasoning_details: [detail] }));
  const answer = sse(...[...deltas, call()].map((delta) => chunk(delta)), chunk({}, 'tool_calls'));
  const { send } = await connect({ pieces: [answer + DONE] });
  expect((await send(QUESTION)).at(-1)).toMatchObject({
    providerData: { value: { reasoning_details: details } },
  });
});

test.for([
  ['no call follows them', 'x', []],
  ['there are too many of them', 'x'.repeat(1024 * 1024), [call()]],
] as const)('details do not go back if %s', async ([, data, calls]) => {
  const detail = { type: 'reasoning.encrypted', index: 0, data };
  const details = [{ ...detail, data: 'x' }, detail];
  const deltas = [{ reasoning_details: details }, ...calls, { content: 'a' }];
  const { send } = await connect({
    pieces: [sse(...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'), DONE)],
  });
  expect((await send(QUESTION)).at(-1)).not.toHaveProperty('providerData');
});

describe('a server that demands reasoning', () => {
  test.for([
    ['DeepSeek', refusing(DEEPSEEK)],
    ['DeepSeek before V4', refusing(DEEPSEEK_BEFORE_V4)],
    ['Kimi', refusing(KIMI)],
    ['a router, by an event', { pieces: [sse({ error: { message: DEEPSEEK, code: 400 } })] }],
  ] as const)('gets a blank where there is none: %s', async ([, refusal]) => {
    const { send, sent } = await connect([refusal, GOOD]);
    const text: AssistantMessage = { role: 'assistant', content: 'Well.' };
    const messages = answered(said(HISTORIC), said(THOUGHT), text);
    expect(textOf(await send(messages))).toBe('a');
    expect(textOf(await send(messages))).toBe('a');
    const complete = [' ', 'hm', ' '];
    expect(sent().map((request) => request.map((message) => message['reasoning_content']))).toEqual(
      [[undefined, 'hm', undefined], complete, complete],
    );
  });

  test('gets the conversation again once, and the next one as it is if that was no help', async () => {
    const { send, sent } = await connect(refusing(KIMI));
    expect(errorOf(await send(answered(said(HISTORIC)))).code).toBe('PROVIDER_REQUEST');
    expect(errorOf(await send(answered(said(THOUGHT)))).code).toBe('PROVIDER_REQUEST');
    expect(sent().map(([message]) => message?.['reasoning_content'])).toEqual([
      undefined,
      ' ',
      'hm',
    ]);
  });
});

test('a server that does not know details gets none', async () => {
  const detail = { type: 'reasoning.encrypted', index: 0, data: 'c2ln' };
  const deltas = [{ reasoning_details: [detail] }, call()];
  const answer = sse(...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls'), DONE);
  const refusal = refusing("property 'messages.1.reasoning_details' is unsupported");
  const { send, sent } = await connect([{ pieces: [answer] }, refusal, GOOD]);
  const events = await send(QUESTION);
  const last = events.at(-1);
  const data = last?.type === 'finish' ? last.providerData : undefined;
  const message = { ...said(...callsIn(events)), ...(data && { providerData: data }) };
  expect(textOf(await send(answered(message)))).toBe('a');
  const given = sent().map((request) => request.map((each) => each['reasoning_details']));
  expect(given.slice(1)).toEqual([[[detail]], [undefined]]);
});

test.for([
  ['Groq', refusing(GROQ)],
  ['Cerebras', refusing(CEREBRAS)],
  ['Mistral', refusing(MISTRAL, 422)],
] as const)('a server that does not know the field gets none: %s', async ([, refusal]) => {
  const { send, sent } = await connect([refusal, GOOD]);
  for (let count = 0; count < 2; count += 1)
    expect(textOf(await send(answered(said(HISTORIC), said(THOUGHT))))).toBe('a');
  expect(sent().map((request) => request.map((message) => message['reasoning_content']))).toEqual([
    [undefined, 'hm'],
    [undefined, undefined],
    [undefined, undefined],
  ]);
});

import type { Message, SendOptions } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import type { Answer } from '../scripted/byte-server.ts';
import {
  DONE,
  ONCE,
  QUESTION,
  STOP,
  collect,
  content,
  errorOf,
  serve,
  sse,
  textOf,
} from '../testing/streams.ts';
import { createOpenAiCompatibleAdapter } from './adapter.ts';

/** Hazard: a server that refuses calls in the history of a request without tools, as the last one of a turn is. */

const BEDROCK =
  'An error occurred (ValidationException) when calling the ConverseStream operation: The toolConfig field must be defined when using toolUse and toolResult content blocks.';
const LITELLM =
  "litellm.UnsupportedParamsError: Bedrock doesn't support tool calling without `tools=` param specified.";
const GOOD: Answer = { pieces: [sse(content('a'), STOP, DONE)] };
const refusing = (message: string): Answer => ({
  status: 400,
  pieces: [JSON.stringify({ detail: message })],
});

const CALL = {
  id: '1',
  name: 'read file',
  arguments: '{"path":"a"}',
  state: 'complete',
} as const;
const HISTORY: readonly Message[] = [
  ...QUESTION,
  { role: 'assistant', content: '', toolCalls: [CALL, { ...CALL, id: '2', name: 'list' }] },
  { role: 'tool', toolCallId: '1', toolName: 'read file', content: 'x' },
  { role: 'tool', toolCallId: '2', toolName: 'list', content: 'y' },
];

type Body = {
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly tool_choice?: string;
  readonly messages: readonly {
    readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
  }[];
};

async function askAll(answers: readonly Answer[], ...asked: readonly SendOptions[]) {
  const server = await serve(answers);
  const adapter = createOpenAiCompatibleAdapter({ model: 'm', baseUrl: server.url, retry: ONCE });
  const events = [];
  for (const options of asked)
    events.push(await collect(adapter.sendMessagesStreaming(HISTORY, options)));
  return { events, bodies: server.requests.map(({ body }) => body as Body) };
}

describe('a conversation with calls that is refused without tools', () => {
  test.for([
    ['a status', refusing(BEDROCK)],
    ['a status of another gateway', refusing(LITELLM)],
    ['an event', { pieces: [sse({ error: { message: BEDROCK } })] }],
  ] as const)('is sent again with tools that may not be called: by %s', async ([, refusal]) => {
    const { events, bodies } = await askAll([refusal, GOOD], {}, {});
    expect(events.map(textOf)).toEqual(['a', 'a']);
    expect(bodies.map(({ tool_choice }) => tool_choice)).toEqual([undefined, 'none', 'none']);
    const called = bodies[1]?.messages[1]?.tool_calls?.map((call) => call.function.name);
    expect(bodies[1]?.tools?.map((tool) => tool.function.name)).toEqual(called);
    expect(called).toHaveLength(2);
  });

  test('is sent again once, and the next one as it is, if that is refused as well', async () => {
    const no = refusing('This model has no tools');
    const { events, bodies } = await askAll([no, no, GOOD], {}, {});
    expect(errorOf(events[0] ?? []).code).toBe('PROVIDER_REQUEST');
    expect(bodies.map(({ tools }) => tools?.length)).toEqual([undefined, 2, undefined]);
  });

  test('is not sent again for another reason, nor with tools of its own', async () => {
    const tools = [{ name: 'list', description: 'lists', parameters: { type: 'object' } }];
    expect((await askAll([refusing('Bad')], {})).bodies).toHaveLength(1);
    expect((await askAll([refusing(BEDROCK)], { tools })).bodies).toHaveLength(1);
  });
});

import type { LlmEvent, Message } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import type { Answer, ReceivedRequest } from '../scripted/byte-server.ts';
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

/** Hazard: servers and chat templates that accept roles in one order only. */

const QWEN = 'System message must be at the beginning.';
const LLAMA_CPP =
  "\n------------\nWhile executing CallExpression at line 85, column 32 in source:\n...first %}↵            {{- raise_exception('System message must be at the beginnin...\n                                           ^\nError: Jinja Exception: System message must be at the beginning.";
const GEMMA = 'Conversation roles must alternate user/assistant/user/assistant/...';
const DEVSTRAL =
  'Error rendering prompt with jinja template: "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."';
const MISTRAL = "Unexpected role 'system' after role 'tool'";

const GOOD: Answer = { pieces: [sse(content('a'), STOP, DONE)] };
const refusing = (message: string, status = 400, metadata: object = {}): Answer => ({
  status,
  pieces: [JSON.stringify({ error: { message, type: 'invalid_request_error', metadata } })],
});

const call = (id: string) => ({ id, name: 'list', arguments: '{}', state: 'complete' }) as const;
const calling = (text: string, id: string): Message => ({
  role: 'assistant',
  content: text,
  toolCalls: [call(id)],
});
const result = (toolCallId: string): Message => ({
  role: 'tool',
  toolCallId,
  toolName: 'list',
  content: 'x',
});
const notice = (text: string): Message => ({ role: 'system', content: text });

/** The last request of a turn that was stopped. */
const STOPPED: readonly Message[] = [
  notice('Rules.'),
  ...QUESTION,
  calling('', '1'),
  result('1'),
  notice('Answer now.'),
];

type Sent = { readonly role: string; readonly content: string; readonly tool_calls?: unknown };

const messagesOf = ({ body }: ReceivedRequest): readonly Sent[] =>
  (body as { readonly messages: readonly Sent[] }).messages;
const rolesOf = (request: ReceivedRequest): string =>
  messagesOf(request)
    .map(({ role, tool_calls: calls }) => (calls === undefined ? role : 'calls'))
    .join(' ');

/** The order that Mistral's API and the templates of Gemma, Mistral and Qwen accept, all at once. */
const STRICT = /^(system )?user( calls( tool)+| assistant user)*$/;

const strictServer = (message: string, status?: number) =>
  serve((request) => (STRICT.test(rolesOf(request)) ? GOOD : refusing(message, status)));

async function ask(
  adapter: ReturnType<typeof createOpenAiCompatibleAdapter>,
  messages: readonly Message[],
): Promise<LlmEvent[]> {
  return await collect(adapter.sendMessagesStreaming(messages, {}));
}

const adapterFor = (baseUrl: string) =>
  createOpenAiCompatibleAdapter({ model: 'm', baseUrl, retry: ONCE });

describe('a conversation whose order of roles is refused', () => {
  test.for([
    ['a template', refusing(QWEN)],
    ['a template that is run when the answer has begun', { pieces: [sse({ error: DEVSTRAL })] }],
    ['status 500', refusing(LLAMA_CPP, 500)],
    ['status 422', refusing(GEMMA, 422)],
    ['an API', refusing(MISTRAL)],
    ['an API behind a router', refusing('Provider returned error', 400, { raw: MISTRAL })],
  ] as const)(
    'is sent again in the strict order, as later ones are: by %s',
    async ([, refusal]) => {
      const server = await serve([refusal, GOOD]);
      const adapter = adapterFor(server.url);
      for (let count = 0; count < 2; count += 1)
        expect(textOf(await ask(adapter, STOPPED))).toBe('a');
      const strict = 'system user calls tool assistant user';
      expect(server.requests.map(rolesOf)).toEqual([
        'system user calls tool system',
        strict,
        strict,
      ]);
      expect(server.requests.map(messagesOf)[1]?.at(-1)?.content).toBe('Answer now.');
    },
  );

  test('has neighbours of one role merged, and every call keeps its result', async () => {
    const server = await strictServer(GEMMA);
    const said: readonly Message[] = [
      notice('Rules.'),
      notice('More rules.'),
      { role: 'user', content: 'One' },
      { role: 'user', content: 'Two' },
      { role: 'assistant', content: 'Three' },
      { role: 'assistant', content: ' ' },
      calling('Four', '1'),
      result('1'),
      notice('Five'),
      { role: 'user', content: '' },
      { role: 'user', content: 'Six' },
      { role: 'assistant', content: '', toolCalls: [call('2'), call('3')] },
      result('2'),
      result('3'),
      { role: 'assistant', content: 'Seven' },
      notice('Eight'),
    ];
    expect(textOf(await ask(adapterFor(server.url), said))).toBe('a');
    expect(server.requests.map(messagesOf)[1]).toMatchObject([
      { role: 'system', content: 'Rules.\n\nMore rules.' },
      { role: 'user', content: 'One\n\nTwo' },
      { role: 'assistant', content: 'Three\n\nFour', tool_calls: [{ id: '1' }] },
      { role: 'tool', tool_call_id: '1' },
      { role: 'assistant', content: 'OK.' },
      { role: 'user', content: 'Five\n\nSix' },
      { role: 'assistant', tool_calls: [{ id: '2' }, { id: '3' }] },
      { role: 'tool', tool_call_id: '2' },
      { role: 'tool', tool_call_id: '3' },
      { role: 'assistant', content: 'Seven' },
      { role: 'user', content: 'Eight' },
    ]);
  });

  test('reaches the server in every turn of several that begin at once', async () => {
    const server = await strictServer(QWEN);
    const adapter = adapterFor(server.url);
    const asked = Array.from({ length: 4 }, () => ask(adapter, STOPPED));
    expect((await Promise.all(asked)).map(textOf)).toEqual(['a', 'a', 'a', 'a']);
  });

  test('is sent again once, and the next one as it is, if that is refused as well', async () => {
    const server = await serve([refusing(GEMMA), refusing(GEMMA), GOOD]);
    const adapter = adapterFor(server.url);
    expect(errorOf(await ask(adapter, STOPPED)).code).toBe('PROVIDER_REQUEST');
    expect(textOf(await ask(adapter, STOPPED))).toBe('a');
    expect(server.requests.map(rolesOf)[2]).toBe('system user calls tool system');
  });

  test('is not sent again for another reason', async () => {
    const server = await serve(refusing('Bad system message'));
    await ask(adapterFor(server.url), STOPPED);
    expect(server.requests).toHaveLength(1);
  });
});

import { KeysInUse } from '@orion/contracts';
import type { LlmEvent, Message, RunEventBody, ToolCall } from '@orion/contracts';
import { createFakeAdapter } from '@orion/testkit';
import { expect, it } from 'vitest';

import { TokenMeter } from '../context/token-meter.ts';
import type { TurnStep } from '../turn/turn-step.ts';
import { redactAdapter } from './redacted-adapter.ts';
import { redactEvents } from './redacted-events.ts';
import { redactMessages } from './redacted-messages.ts';

/** Hazard: what a provider says holds a key of this process, whole or in two pieces, and is shown or stored. */

const KEY = 'key-of-this-process';
const keys = new KeysInUse([KEY]);
const error = { code: 'PROVIDER_ERROR', message: `no ${KEY}`, retryable: false } as const;
const clean = { ...error, message: 'no [REDACTED]' };
const call = (id: string, name: string, text: string): ToolCall => ({
  id,
  name,
  arguments: text,
  state: 'complete',
});

async function told(events: readonly RunEventBody[]): Promise<readonly TurnStep[]> {
  // oxlint-disable-next-line typescript/require-await
  async function* source(): AsyncGenerator<RunEventBody, string> {
    yield* events;
    return 'end';
  }
  const seen: TurnStep[] = [];
  const stream = redactEvents(source(), keys);
  for (;;) {
    const next = await stream.next();
    if (next.done === true) {
      expect(next.value).toBe('end');
      return seen;
    }
    seen.push(next.value);
  }
}

const text = (content: string): RunEventBody => ({ type: 'chunk', content, source: 'model' });

it('a key in two pieces of text is never told, and what only begins like one is', async () => {
  expect(await told([text('a key-of'), text('-this-process b'), text(' key-')])).toEqual([
    text('a '),
    text('[REDACTED] b'),
    text(' '),
    text('key-'),
  ]);
  const phase: RunEventBody = { type: 'phase', phase: 'tool', index: 1 };
  expect(await told([text('key-'), phase, text('of-this-process')])).toEqual([
    text('key-'),
    phase,
    text('of-this-process'),
  ]);
});

it('calls, results, errors and notices are told without the key, content of a file with it', async () => {
  const content: RunEventBody = {
    type: 'write_chunk',
    sessionId: 's',
    offset: 0,
    length: 19,
    content: KEY,
  };
  const calls = (argument: string): RunEventBody => ({
    type: 'tool_calls',
    calls: [{ id: 'c', name: 'n', arguments: argument }],
  });
  const result = (summary: string, failure: typeof error | typeof clean): RunEventBody => ({
    type: 'tool_result',
    callId: 'c',
    toolName: 'n',
    ok: false,
    summary,
    error: failure,
  });
  expect(
    await told([
      content,
      calls(`{"a":"${KEY}"}`),
      result(`x ${KEY}`, error),
      { type: 'error', error },
      { type: 'chunk', content: KEY, source: 'notice' },
    ]),
  ).toEqual([
    content,
    calls('{"a":"[REDACTED]"}'),
    result('x [REDACTED]', clean),
    { type: 'error', error: clean },
    { type: 'chunk', content: '[REDACTED]', source: 'notice' },
  ]);
});

it('of a history only what a provider said is stored without the key, and results that may quote it', () => {
  const said = (content: string, ...toolCalls: ToolCall[]): Message => ({
    role: 'assistant',
    content,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  });
  const result = (toolCallId: string, content: string): Message => ({
    role: 'tool',
    toolCallId,
    toolName: 'read_file',
    content,
  });
  const untouched: readonly Message[] = [
    { role: 'user', content: `my ${KEY}` },
    said('', call('c1', 'read_file', '{"path":".env"}')),
    result('c1', `KEY=${KEY}`),
    said('done'),
  ];
  expect(redactMessages(untouched, keys.redact)).toEqual(untouched);
  for (const [index, message] of redactMessages(untouched, keys.redact).entries()) {
    expect(message).toBe(untouched[index]);
  }
  expect(
    redactMessages(
      [
        said(`I saw ${KEY}`, call('c1', 'read_file', `{"path":"${KEY}"}`)),
        result('c1', `no file ${KEY}`),
        // The same id again, for a call that holds nothing.
        ...untouched,
      ],
      keys.redact,
    ),
  ).toEqual([
    said('I saw [REDACTED]', call('c1', 'read_file', '{"path":"[REDACTED]"}')),
    result('c1', 'no file [REDACTED]'),
    ...untouched,
  ]);
});

it('what a provider wants back is stored whole or not at all', () => {
  const data = (value: string) => ({ adapter: 'a', model: 'm', value: { signature: value } });
  const message = (value: string, inCall: string): Message => ({
    role: 'assistant',
    content: '',
    toolCalls: [{ ...call('c', 'read_file', '{}'), providerData: data(inCall) }],
    providerData: data(value),
  });
  const clean = message('one', 'two');
  expect(redactMessages([clean], keys.redact)[0]).toBe(clean);
  expect(redactMessages([message(KEY, 'two')], keys.redact)).toEqual([
    {
      role: 'assistant',
      content: '',
      toolCalls: clean.role === 'assistant' ? clean.toolCalls : [],
    },
  ]);
  expect(redactMessages([message('one', KEY)], keys.redact)).toEqual([
    { ...clean, toolCalls: [call('c', 'read_file', '{}')] },
  ]);
});

it('names and ids of calls, and errors, come from an adapter without the key; text and arguments as they are', async () => {
  const args = `{"content":"${KEY}"}`;
  const events: readonly LlmEvent[] = [
    { type: 'text-delta', text: KEY },
    { type: 'tool-call-start', index: 0, id: `i-${KEY}`, name: `n-${KEY}` },
    { type: 'tool-call-delta', index: 0, argumentsDelta: args },
    { type: 'tool-call-end', index: 0, call: call(`i-${KEY}`, `n-${KEY}`, args) },
    { type: 'error', error },
  ];
  const adapter = redactAdapter(createFakeAdapter([events]), keys, new TokenMeter());
  const seen: LlmEvent[] = [];
  for await (const event of adapter.sendMessagesStreaming([], {})) seen.push(event);
  expect(seen).toEqual([
    { type: 'text-delta', text: KEY },
    { type: 'tool-call-start', index: 0, id: 'i-[REDACTED]', name: 'n-[REDACTED]' },
    { type: 'tool-call-delta', index: 0, argumentsDelta: args },
    { type: 'tool-call-end', index: 0, call: call('i-[REDACTED]', 'n-[REDACTED]', args) },
    { type: 'error', error: clean },
  ]);
});

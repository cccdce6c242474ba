import type { LlmAdapter, LlmEvent, Message, SendOptions } from '@orion/contracts';
import { describe, expect, onTestFinished, test } from 'vitest';

/**
 * Answers that a provider's server gives in this suite, each in the provider's own wire format:
 *
 * - `text`: the text "Hello, wörld 🎉" in several pieces, usage, an orderly end.
 * - `tool-call`: the text "Calling." and a call `read_file` with the arguments `{"path":"a.txt"}` in pieces.
 * - `cut-call`: the same call, stopped by the length limit within its arguments.
 * - `length`: the text "half" stopped by the length limit.
 * - `truncated`: the text "half" and an orderly end of the body without the end mark.
 * - `broken`: the text "half" and a connection that breaks.
 * - `failed`: the text "half" and an error in the stream.
 * - `refused`: the provider's answer to a wrong API key, which quotes the key.
 * - `endless`: the text "half" and nothing more, on an open connection.
 * - `next-call`: the call of `tool-call` without its text, whole, then the beginning of a call `list_files` and nothing
 *   more, on an open connection.
 */
export const ADAPTER_SCENARIOS = [
  'text',
  'tool-call',
  'cut-call',
  'length',
  'truncated',
  'broken',
  'failed',
  'refused',
  'endless',
  'next-call',
] as const;

const OPEN_ENDED: readonly string[] = ['endless', 'next-call'];

export type AdapterScenario = (typeof ADAPTER_SCENARIOS)[number];

export type AdapterUnderTest = {
  /** Talks to the scenario's server through a real socket, with `API_KEY_CANARY` as its key. */
  readonly adapter: LlmAdapter;
  /** How many connections the server has open now. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
};

export const API_KEY_CANARY = 'sk-canary-0123456789abcdef';

const MESSAGES: readonly Message[] = Object.freeze([
  Object.freeze({ role: 'system', content: 'Be brief.' } as const),
  Object.freeze({ role: 'user', content: 'Hello' } as const),
]);

/**
 * What every adapter keeps.
 *
 * 1. Exactly one `finish` or `error`, last; `usage` comes before it. Nothing that a provider does makes it throw.
 * 2. A call is start, deltas, end, and its deltas joined are its arguments; only a whole JSON object is `complete`.
 *    A whole call ends when the next one begins, not with the message, so that a reader who needs no more can leave.
 * 3. A stream without its end mark is an error, and the text before an error is kept.
 * 4. An abort, and an early return, close the connection.
 * 5. No event contains a key.
 */
export function describeAdapterContract(
  name: string,
  start: (scenario: AdapterScenario) => Promise<AdapterUnderTest>,
): void {
  describe(`adapter contract: ${name}`, () => {
    const begin = async (scenario: AdapterScenario): Promise<AdapterUnderTest> => {
      const started = await start(scenario);
      onTestFinished(() => started.close());
      return started;
    };
    const receive = async (
      scenario: AdapterScenario,
      send: SendOptions = {},
    ): Promise<LlmEvent[]> => {
      const { adapter } = await begin(scenario);
      const events: LlmEvent[] = [];
      for await (const event of adapter.sendMessagesStreaming(MESSAGES, send)) events.push(event);
      return events;
    };
    const textOf = (events: readonly LlmEvent[]): string =>
      events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

    test.for(ADAPTER_SCENARIOS.filter((scenario) => !OPEN_ENDED.includes(scenario)))(
      '%s: one final event, usage before it, plain JSON, no key',
      async (scenario) => {
        const events = await receive(scenario);
        const final = events.filter(({ type }) => type === 'finish' || type === 'error');
        expect(final).toEqual([events.at(-1)]);
        expect(events.filter(({ type }) => type === 'usage').length).toBeLessThanOrEqual(1);
        const usage = events.findIndex(({ type }) => type === 'usage');
        if (usage !== -1) expect(usage).toBe(events.length - 2);
        expect(JSON.parse(JSON.stringify(events))).toEqual(events);
        expect(JSON.stringify(events)).not.toContain(API_KEY_CANARY);
      },
    );

    test('text arrives whole, with usage', async () => {
      const events = await receive('text');
      expect(textOf(events)).toBe('Hello, wörld 🎉');
      expect(events.some((event) => event.type === 'usage' && event.usage.outputTokens > 0)).toBe(
        true,
      );
      expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop' });
    });

    test.for([
      ['tool-call', 'complete', 'tool_calls'],
      ['cut-call', 'cut', 'length'],
    ] as const)('%s: the call is %s', async ([scenario, state, reason]) => {
      const events = await receive(scenario);
      expect(textOf(events)).toBe('Calling.');
      const calls = events.flatMap((event) => (event.type === 'tool-call-end' ? [event] : []));
      expect(calls).toMatchObject([{ call: { name: 'read_file', state } }]);
      const [call] = calls;
      const own = events.filter((event) => 'index' in event && event.index === call?.index);
      expect(own.at(0)).toMatchObject({
        type: 'tool-call-start',
        id: call?.call.id,
        name: 'read_file',
      });
      expect(own.at(-1)).toBe(call);
      const joined = own.map((event) =>
        event.type === 'tool-call-delta' ? event.argumentsDelta : '',
      );
      expect(joined.join('')).toBe(call?.call.arguments);
      if (state === 'complete') expect(call?.call.arguments).toBe('{"path":"a.txt"}');
      expect(events.at(-1)).toEqual({ type: 'finish', reason });
    });

    test('a call ends when the next one begins, while its message goes on (R147)', async () => {
      const { adapter, connections } = await begin('next-call');
      const controller = new AbortController();
      const events: LlmEvent[] = [];
      for await (const event of adapter.sendMessagesStreaming(MESSAGES, {
        signal: controller.signal,
      })) {
        events.push(event);
        if (event.type === 'tool-call-end') controller.abort();
      }
      const end = events.findIndex(({ type }) => type === 'tool-call-end');
      expect(events[end]).toMatchObject({
        index: 0,
        call: { name: 'read_file', arguments: '{"path":"a.txt"}', state: 'complete' },
      });
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'ABORTED' } });
      await expect.poll(connections).toBe(0);
    });

    test('a length stop is told apart from an end', async () => {
      const events = await receive('length');
      expect(textOf(events)).toBe('half');
      expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length' });
    });

    test.for([
      ['truncated', 'STREAM_TRUNCATED'],
      ['broken', 'STREAM_BROKEN'],
      ['failed', undefined],
    ] as const)('%s is an error, and its text is kept', async ([scenario, code]) => {
      const events = await receive(scenario);
      expect(textOf(events)).toBe('half');
      expect(events.at(-1)).toMatchObject({
        type: 'error',
        error: code === undefined ? {} : { code },
      });
    });

    test('a refused key is an authentication error', async () => {
      expect(await receive('refused')).toMatchObject([
        { type: 'error', error: { code: 'PROVIDER_AUTH', retryable: false } },
      ]);
    });

    test('an abort is the final error and closes the connection', async () => {
      const { adapter, connections } = await begin('endless');
      const controller = new AbortController();
      const events: LlmEvent[] = [];
      for await (const event of adapter.sendMessagesStreaming(MESSAGES, {
        signal: controller.signal,
      })) {
        events.push(event);
        if (event.type === 'text-delta') controller.abort();
      }
      expect(textOf(events)).toBe('half');
      expect(events.at(-1)).toMatchObject({
        type: 'error',
        error: { code: 'ABORTED', retryable: false },
      });
      await expect.poll(connections).toBe(0);
    });

    test('an early return closes the connection', async () => {
      const { adapter, connections } = await begin('endless');
      for await (const event of adapter.sendMessagesStreaming(MESSAGES, {})) {
        if (event.type === 'text-delta') break;
      }
      await expect.poll(connections).toBe(0);
    });

    test('an aborted signal sends nothing', async () => {
      const events = await receive('text', { signal: AbortSignal.abort() });
      expect(events).toMatchObject([{ type: 'error', error: { code: 'ABORTED' } }]);
    });
  });
}

import type { LlmEvent, Message, SendOptions } from '@orion/contracts';
import { onTestFinished } from 'vitest';

import { createOpenAiCompatibleAdapter } from '../openai-compatible/adapter.ts';
import type { OpenAiCompatibleOptions } from '../openai-compatible/adapter.ts';
import { startByteServer } from '../scripted/byte-server.ts';
import type { Answer, ByteServer } from '../scripted/byte-server.ts';

/** For tests of what one request brings. */
export const ONCE = { retries: 0 } as const;

export const QUESTION: readonly Message[] = [{ role: 'user', content: 'Hello' }];

/** A chunk's JSON around the given choice. */
export function chunk(
  delta: object,
  finishReason: string | null = null,
  more: object = {},
): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...more,
  };
}

export function content(text: string): object {
  return chunk({ content: text });
}

export function toolCall(call: {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}): object {
  const { index, id, ...named } = call;
  return chunk({
    tool_calls: [
      {
        ...(index === undefined ? {} : { index }),
        ...(id === undefined ? {} : { id, type: 'function' }),
        function: named,
      },
    ],
  });
}

export const DONE = '[DONE]';
export const STOP: object = chunk({}, 'stop');
export const USAGE: object = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [],
  usage: {
    prompt_tokens: 11,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 3 },
  },
};

/** Payloads as the text of an event stream. */
export function sse(...payloads: readonly (object | string)[]): string {
  return payloads
    .map(
      (payload) => `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`,
    )
    .join('');
}

/** A byte server that lives as long as the test. */
export async function serve(
  answers: Parameters<typeof startByteServer>[0] | string,
): Promise<ByteServer> {
  const server = await startByteServer(
    typeof answers === 'string' ? { pieces: [answers] } : answers,
  );
  onTestFinished(() => server.close());
  return server;
}

export async function collect(events: AsyncIterable<LlmEvent>): Promise<LlmEvent[]> {
  const all: LlmEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The events of one answer, read by the adapter over a real socket. */
export async function receive(
  answer: Answer | string,
  send: SendOptions = {},
  options: Partial<OpenAiCompatibleOptions> = {},
): Promise<LlmEvent[]> {
  const server = await serve(answer);
  return await ask(server, send, options);
}

export async function ask(
  server: ByteServer,
  send: SendOptions = {},
  options: Partial<OpenAiCompatibleOptions> = {},
): Promise<LlmEvent[]> {
  const adapter = createOpenAiCompatibleAdapter({
    model: 'm',
    baseUrl: server.url,
    retry: ONCE,
    ...options,
  });
  return await collect(adapter.sendMessagesStreaming(QUESTION, send));
}

/** Adjacent deltas of one kind joined: no meaning lies in how text is divided. */
export function merged(events: readonly LlmEvent[]): LlmEvent[] {
  const result: LlmEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (event.type === 'text-delta' && last?.type === 'text-delta') {
      result[result.length - 1] = { type: 'text-delta', text: last.text + event.text };
    } else if (event.type === 'reasoning-delta' && last?.type === 'reasoning-delta') {
      result[result.length - 1] = { type: 'reasoning-delta', text: last.text + event.text };
    } else {
      result.push(event);
    }
  }
  return result;
}

export function textOf(events: readonly LlmEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

export function errorOf(events: readonly LlmEvent[]): {
  readonly code: string;
  readonly message: string;
} {
  const last = events.at(-1);
  if (last?.type !== 'error') throw new Error(`the last event is ${JSON.stringify(last)}`);
  return last.error;
}

export function callsOf(events: readonly LlmEvent[]): readonly object[] {
  return events.flatMap((event) => (event.type === 'tool-call-end' ? [event.call] : []));
}

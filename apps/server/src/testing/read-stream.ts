/** Reads a stream of server-sent events from a real socket, with a parser that is not ours. */
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';

import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import { onTestFinished } from 'vitest';

import { TOKEN } from './test-server.ts';

export type OpenStream = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** As they arrive. */
  readonly messages: readonly EventSourceMessage[];
  /** All bytes as text. */
  readonly raw: () => string;
  readonly retries: readonly number[];
  /** When that many have arrived. Rejects if the stream ends before. */
  readonly reached: (count: number) => Promise<readonly EventSourceMessage[]>;
  readonly ended: Promise<void>;
  readonly close: () => void;
  /** Begins to read where it was paused. */
  readonly resume: () => void;
  readonly response: IncomingMessage;
};

export type StreamOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** A reader that takes nothing. */
  readonly paused?: boolean;
};

export async function openStream(
  port: number,
  path: string,
  { headers = {}, json, paused = false }: StreamOptions = {},
): Promise<OpenStream> {
  const asked = request({
    port,
    host: '127.0.0.1',
    path,
    agent: false,
    method: json === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  asked.end(json === undefined ? undefined : JSON.stringify(json));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve).on('error', reject);
  });
  onTestFinished(() => void response.destroy());
  const messages: EventSourceMessage[] = [];
  const retries: number[] = [];
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    onRetry: (retry) => retries.push(retry),
  });
  let raw = '';
  let wake = (): void => undefined;
  response.setEncoding('utf8');
  response.on('error', () => undefined);
  const onData = (chunk: string): void => {
    raw += chunk;
    parser.feed(chunk);
    wake();
  };
  if (paused) response.pause();
  else response.on('data', onData);
  let isClosed = false;
  const ended = new Promise<void>((resolve) => {
    response.once('close', () => {
      isClosed = true;
      wake();
      resolve();
    });
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    messages,
    raw: () => raw,
    retries,
    async reached(count) {
      while (messages.length < count) {
        if (isClosed) throw new Error(`The stream ended after ${messages.length} events`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return messages;
    },
    ended,
    close: () => void response.destroy(),
    resume: () => void response.on('data', onData).resume(),
    response,
  };
}

export const numbersOf = (messages: readonly EventSourceMessage[]): readonly number[] =>
  messages.map(({ data }) => (JSON.parse(data) as { readonly seq?: number }).seq ?? 0);

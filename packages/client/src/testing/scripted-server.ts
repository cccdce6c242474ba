/** A real HTTP server whose answers a test writes by hand, one after the other. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { onTestFinished } from 'vitest';

export type Asked = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

export type Step = (response: ServerResponse) => void;

export type ScriptedServer = { readonly url: string; readonly asked: readonly Asked[] };

/** The last step answers all further requests, too. */
export async function startScriptedServer(steps: readonly Step[]): Promise<ScriptedServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const step = steps[Math.min(asked.length, steps.length - 1)];
      asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      step?.(response);
    });
  });
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Step =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

export const failure = (status: number, code: string, headers = {}): Step =>
  json(status, { error: { code, message: `It is ${code}.`, hint: 'Do something.' } }, headers);

/** What a proxy or tunnel says itself. */
export const foreign =
  (status: number): Step =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<html>');
  };

export const broken: Step = (response) => response.destroy();

const frame = (event: Readonly<Record<string, unknown>>): string =>
  `${'seq' in event ? `id: ${String(event['seq'])}.a\n` : ''}event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;

/** Events, and then the end: `cut` in the middle of a frame, `end` in order, `open` not at all. */
export const stream =
  (
    events: readonly Readonly<Record<string, unknown>>[],
    how: 'cut' | 'end' | 'open' = 'end',
    before = '',
  ): Step =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(before + events.map(frame).join(''));
    if (how === 'end') response.end();
    else if (how === 'cut') {
      response.write('id: 99.a\ndata: {"type":"chu');
      setTimeout(() => response.destroy(), 5);
    }
  };

export const nothing: Step = (response) => {
  response.writeHead(204);
  response.end();
};

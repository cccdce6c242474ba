/** A server on a real port, with a workspace of its own. Everything is closed and removed when its test ends. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import type { IncomingHttpHeaders, RequestOptions } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createOrion } from '@orion/agent';
import type { Orion, OrionOptions } from '@orion/agent';
import { onTestFinished } from 'vitest';

import type { ServerOptions } from '../configuration.ts';
import { startServer } from '../start-server.ts';
import type { RunningServer } from '../start-server.ts';

export const TOKEN = 'a-token-of-the-tests-0123456789';

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of a JSON answer. */
  readonly json: unknown;
};

/** The code of an answer that is an error. */
export function codeOf(json: unknown): string {
  return (json as { readonly error?: { readonly code: string } } | null)?.error?.code ?? '';
}

export type AskOptions = {
  readonly method?: string;
  /** `null`: no token. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
};

export type TestServer = {
  readonly server: RunningServer;
  readonly orion: Orion;
  readonly root: string;
  readonly port: number;
  readonly log: string[];
  readonly ask: (path: string, options?: AskOptions) => Promise<Answer>;
  /** Sends bytes as they are, and answers what came back until the connection ended. */
  readonly send: (text: string) => Promise<string>;
};

export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'orion-server-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

export async function startTestServer(
  options: Partial<ServerOptions> = {},
  orionOptions: Partial<OrionOptions> = {},
): Promise<TestServer> {
  const root = await temporaryDirectory();
  const orion = await createOrion({ workspace: root, store: 'memory', ...orionOptions });
  onTestFinished(() => orion.close());
  const log: string[] = [];
  const server = await startServer({
    orion,
    port: 0,
    token: TOKEN,
    log: { write: (line) => void log.push(line) },
    ...options,
    limits: { refusalsPerSecond: 10_000, opensPerSecond: 10_000, ...options.limits },
  });
  onTestFinished(() => server.stop({ drainMs: 0 }));
  const port = Number(new URL(server.url).port);
  return {
    server,
    orion,
    root,
    port,
    log,
    ask: (path, ask) => askServer(port, path, ask),
    send: (text) => sendBytes(port, text),
  };
}

/** Without an agent, since `fetch` decides some headers by itself. */
export function askServer(
  port: number,
  path: string,
  { method, token = TOKEN, headers = {}, json, body }: AskOptions = {},
): Promise<Answer> {
  const sent = json === undefined ? body : JSON.stringify(json);
  const options: RequestOptions = {
    port,
    host: '127.0.0.1',
    path,
    method: method ?? (sent === undefined ? 'GET' : 'POST'),
    agent: false,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(sent === undefined || 'transfer-encoding' in headers
        ? {}
        : { 'content-length': Buffer.byteLength(sent) }),
      ...headers,
    },
  };
  return new Promise((resolve, reject) => {
    const asked = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = response.headers['content-type']?.includes('json') === true && text !== '';
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : null,
        });
      });
    });
    asked.on('error', reject);
    asked.end(sent);
  });
}

export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.once('error', reject);
    onTestFinished(() => void socket.destroy());
  });
}

/** What arrives on a socket until it ends. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => (text += data));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

async function sendBytes(port: number, text: string): Promise<string> {
  const socket = await openSocket(port);
  const answer = readToEnd(socket);
  socket.write(text);
  return answer;
}

/** The parts of an answer that arrived as bytes. */
export function parseAnswer(text: string): {
  readonly status: number;
  readonly head: string;
  readonly body: string;
} {
  const end = text.indexOf('\r\n\r\n');
  return {
    status: Number(text.slice(9, 12)),
    head: text.slice(0, end).toLowerCase(),
    body: text.slice(end + 4),
  };
}

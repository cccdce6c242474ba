/** A server on a real port, with a workspace of its own. Everything is closed and removed when its test ends. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createOrion } from '@orion/agent';
import type { Orion, OrionOptions } from '@orion/agent';
import {
  askServer as askWith,
  codeOf,
  openSocket as open,
  readToEnd,
  sendBytes,
} from '@orion/testkit/http';
import type { HttpAnswer, HttpQuestion } from '@orion/testkit/http';
import { onTestFinished } from 'vitest';

import type { ServerOptions } from '../configuration.ts';
import { startServer } from '../start-server.ts';
import type { RunningServer } from '../start-server.ts';

export const TOKEN = 'a-token-of-the-tests-0123456789';

export type { HttpAnswer as Answer, HttpQuestion as AskOptions };
export { codeOf, readToEnd };

export type TestServer = {
  readonly server: RunningServer;
  readonly orion: Orion;
  readonly root: string;
  readonly port: number;
  readonly log: string[];
  readonly ask: (path: string, options?: HttpQuestion) => Promise<HttpAnswer>;
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

/** With the token of the tests, unless something else is said. */
export function askServer(
  port: number,
  path: string,
  question?: HttpQuestion,
): Promise<HttpAnswer> {
  return askWith(port, path, { token: TOKEN, ...question });
}

/** Closed when the test ends. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = await open(port);
  onTestFinished(() => void socket.destroy());
  return socket;
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

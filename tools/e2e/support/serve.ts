/** `orion serve` as a process of its own, and clients that send what they are told to. */
import type { Socket } from 'node:net';

import { afterAll, beforeAll } from 'vitest';

import type { RunEvent } from '@orion/contracts';
import { askServer, codeOf, openSocket, readToEnd, sendBytes } from '@orion/testkit/http';
import type { HttpAnswer, HttpQuestion } from '@orion/testkit/http';

import type { RunOptions, Running } from './run.ts';
import { createSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { waitFor } from './wait.ts';

export const SERVER_TOKEN = 'a-token-of-the-tests-0123456789';

export type { HttpAnswer, HttpQuestion };
export { codeOf, readToEnd };

export type ServedProcess = {
  readonly running: Running;
  readonly url: string;
  readonly port: number;
  readonly ask: (path: string, question?: HttpQuestion) => Promise<HttpAnswer>;
  readonly open: () => Promise<Socket>;
  /** Sends bytes as they are, and answers what came back until the connection ended. */
  readonly send: (text: string | Uint8Array) => Promise<string>;
  /** The log so far. */
  readonly log: () => readonly Readonly<Record<string, unknown>>[];
};

/** Starts it on a free port and waits for its URL. Without a provider it is given one that nobody reaches. */
export async function serve(
  machine: Pick<Sandbox, 'start'>,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<ServedProcess> {
  const named = args.includes('--model') || args.includes('--provider');
  const provider = named ? [] : ['--model', 'none', '--base-url', 'http://127.0.0.1:1'];
  const running = machine.start(['serve', '--port', '0', ...provider, ...args], {
    isServer: true,
    ...options,
    env: { ORION_SERVER_TOKEN: SERVER_TOKEN, ...options.env },
  });
  const url = await waitFor('the URL of the server', async () => {
    const [line] = /^http:\/\/\S+\n/u.exec(running.stdout()) ?? [];
    if (line !== undefined) return line.trim();
    const ended = await Promise.race([running.finished, Promise.resolve(null)]);
    if (ended !== null) throw new Error(`the server ended: ${ended.exitCode}\n${ended.stderr}`);
    return null;
  });
  const port = Number(new URL(url).port);
  return {
    running,
    url,
    port,
    ask: (path, question) => askServer(port, path, { token: SERVER_TOKEN, ...question }),
    open: () => openSocket(port),
    send: (bytes) => sendBytes(port, bytes),
    log: () =>
      running
        .stderr()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

/** A server for all tests of a file that only ask it. */
export function sharedServer(args: readonly string[] = []): () => ServedProcess {
  let machine: Sandbox | undefined;
  let served: ServedProcess | undefined;
  beforeAll(async () => {
    machine = await createSandbox();
    served = await serve(machine, args);
  });
  afterAll(() => machine?.dispose());
  return () => {
    if (served === undefined) throw new Error('the server is started by beforeAll');
    return served;
  };
}

/** What came back, as `status CODE`. */
export function told({ status, json }: Pick<HttpAnswer, 'status' | 'json'>): string {
  return `${status} ${codeOf(json)}`.trim();
}

/** The same for each answer that arrived as bytes, in their order. */
export function toldOf(bytes: string): readonly string[] {
  return bytes
    .split(/(?=HTTP\/1\.[01] \d{3} )/u)
    .filter((answer) => answer !== '')
    .map((answer) => {
      const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
      const isJson = body.startsWith('{') && body.endsWith('}');
      return told({ status: Number(answer.slice(9, 12)), json: isJson ? JSON.parse(body) : null });
    });
}

/** What arrives of a stream of events, as text frames. */
export type SentFrame = {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
};

/** The frames of an SSE body, comments left out. */
export function framesOf(text: string): readonly SentFrame[] {
  return text
    .split('\n\n')
    .map((frame) => frame.split('\n').filter((line) => line !== '' && !line.startsWith(':')))
    .filter((lines) => lines.some((line) => line.startsWith('data:')))
    .map((lines) => {
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      return { id: field('id') ?? null, event: field('event') ?? '', data: field('data') ?? '' };
    });
}

/** Sends a message and reads its turn to the end. */
export async function say(
  server: Pick<ServedProcess, 'ask'>,
  message: object,
  path = '/api/chat/messages',
): Promise<{
  readonly answer: HttpAnswer;
  readonly frames: readonly SentFrame[];
  readonly events: readonly RunEvent[];
}> {
  const answer = await server.ask(path, { json: message });
  const frames = framesOf(answer.text);
  return { answer, frames, events: frames.map(({ data }) => JSON.parse(data) as RunEvent) };
}

import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

import { listen, stopListening } from './listen.ts';
import { checkRequest } from './requests/check.ts';

export type ReceivedRequest = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
};

/** The answer to one request: raw bytes in pieces, then an end. */
export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly (Uint8Array | string)[];
  /**
   * `orderly` ends the chunked body, `close` closes the socket without an end, `reset` sends a RST, `open` does nothing
   * more.
   */
  readonly end?: 'orderly' | 'close' | 'reset' | 'open';
  /** The pause between two pieces. Without one, they are sent as fast as the event loop turns. */
  readonly pauseMs?: number;
};

export type ByteServer = {
  readonly url: string;
  readonly address: string;
  readonly requests: ReceivedRequest[];
  /** The requests that a strict provider would refuse, each with its path and the reason. */
  readonly refused: readonly string[];
  /** The number of open connections. */
  connections(): number;
  /** The number of connections so far. */
  accepted(): number;
  /** Closes every connection, as servers do with idle ones. */
  dropConnections(): void;
  close(): Promise<void>;
};

/**
 * A provider that is only a socket: it reads one HTTP request after another and replays the given bytes, one HTTP chunk
 * per piece. Every request is checked as a strict provider would, by default against the formats of this package. A
 * request that fails is answered with a status that no test expects, and listed in `refused`.
 */
export async function startByteServer(
  answers: Answer | readonly Answer[] | ((request: ReceivedRequest, index: number) => Answer),
  check: (path: string, body: unknown) => readonly string[] = checkRequest,
): Promise<ByteServer> {
  const refused: string[] = [];
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const answerTo = (request: ReceivedRequest, index: number): Answer => {
    if (typeof answers === 'function') return answers(request, index);
    const list: readonly Answer[] = [answers].flat();
    return list[index] ?? list.at(-1) ?? { pieces: [] };
  };

  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    void serve(socket, (request) => {
      requests.push(request);
      const violations = check(request.path, request.body);
      if (violations.length > 0) {
        const why = `request ${requests.length} to ${request.path}: ${violations.join('; ')}`;
        refused.push(why);
        return { status: 418, pieces: [why] };
      }
      return answerTo(request, requests.length - 1);
    });
  });
  const port = await listen(server, 0);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    address: `127.0.0.1:${port}`,
    requests,
    refused,
    connections: () => sockets.size,
    accepted: () => accepted,
    dropConnections: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await stopListening(server);
    },
  };
}

async function serve(
  socket: Socket,
  answerTo: (request: ReceivedRequest) => Answer,
): Promise<void> {
  let buffered = Buffer.alloc(0);
  try {
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      buffered = Buffer.concat([buffered, bytes]);
      const request = readRequest(buffered);
      if (request === undefined) continue;
      buffered = Buffer.alloc(0);
      await sendAnswer(socket, answerTo(request));
    }
  } catch {
    // The client disconnected, as some tests intend.
  }
}

function readRequest(bytes: Buffer): ReceivedRequest | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [requestLine = '', ...headerLines] = bytes.subarray(0, headEnd).toString().split('\r\n');
  const headers = Object.fromEntries(
    headerLines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = bytes.subarray(headEnd + 4);
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined;
  return { path: requestLine.split(' ')[1] ?? '', headers, body: JSON.parse(body.toString()) };
}

async function sendAnswer(socket: Socket, answer: Answer): Promise<void> {
  const { status = 200, end = 'orderly', pieces } = answer;
  const headers = { 'content-type': 'text/event-stream', ...answer.headers };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} Status\r\n${head.join('')}transfer-encoding: chunked\r\n\r\n`);
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    const size = `${bytes.length.toString(16)}\r\n`;
    // In one write, so that a piece is sent as one segment.
    if (bytes.length > 0)
      socket.write(Buffer.concat([Buffer.from(size), bytes, Buffer.from('\r\n')]));
    await (answer.pauseMs === undefined ? nextTurn() : wait(answer.pauseMs));
  }
  switch (end) {
    case 'orderly':
      socket.write('0\r\n\r\n');
      return;
    case 'close':
      socket.end();
      return;
    case 'reset':
      // Everything must have arrived: a reset discards what is in transit.
      while (socket.writableLength > 0) await wait(1);
      await wait(20);
      socket.resetAndDestroy();
      return;
    case 'open':
      return;
    default:
      end satisfies never;
  }
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, 0);
  await stopListening(server);
  return port;
}

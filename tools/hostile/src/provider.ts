import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as the command sent it. */
export type Asked = {
  readonly index: number;
  /** `begin`: the first one; `content`: no call may be made; `after`: a tool has answered. */
  readonly stage: 'begin' | 'content' | 'after';
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
};

export type Answering = {
  /** Sends the head of an answer; the body follows. */
  readonly head: (status: number, headers?: Readonly<Record<string, string>>) => void;
  /** More of the body; resolves when there is room for more. False: the other end has stopped reading. */
  readonly send: (text: string | Uint8Array) => Promise<boolean>;
  readonly end: () => void;
  readonly socket: Socket;
};

/** What a provider does with a request. */
export type Manner = (asked: Asked, answer: Answering) => Promise<void> | void;

export type HostileProvider = {
  readonly url: string;
  readonly origin: string;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
};

/** A chat-completions server on loopback that does what it likes. */
export async function startProvider(manner: Manner): Promise<HostileProvider> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => request.socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const one: Asked = {
      index: asked.length,
      stage: stageOf(text),
      headers: request.headers,
      text,
    };
    asked.push(one);
    response.on('error', () => undefined);
    await manner(one, {
      head: (status, headers = {}) =>
        response.writeHead(status, { 'content-type': 'text/event-stream', ...headers }),
      send: (body) =>
        new Promise((resolve) => {
          if (response.destroyed || request.socket.destroyed) {
            resolve(false);
            return;
          }
          const done = (): void => resolve(!response.destroyed && !request.socket.destroyed);
          response.once('close', done);
          response.write(body, () => {
            response.off('close', done);
            done();
          });
        }),
      end: () => response.end(),
      socket: request.socket,
    });
  }

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    origin: `http://127.0.0.1:${port}`,
    asked,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function stageOf(text: string): Asked['stage'] {
  if (text.includes('"tool_choice":"none"')) return 'content';
  return text.includes('"role":"tool"') ? 'after' : 'begin';
}

export function event(payload: object | string): string {
  return `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;
}

export function delta(fields: object, finish: string | null = null): object {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'm',
    choices: [{ index: 0, delta: fields, finish_reason: finish }],
  };
}

export function say(text: string, finish: string | null = null): string {
  return event(delta({ content: text }, finish));
}

export function call(name: string, args: string | object, id = 'c1', index = 0): string {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return event(
    delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] }),
  );
}

export const END: string = event(delta({}, 'stop')) + event('[DONE]');
export const END_OF_CALLS: string = event(delta({}, 'tool_calls')) + event('[DONE]');

export function begin(target: string, more: object = {}): string {
  const args = { intent: 'a test', target_file: target, operation: 'create', ...more };
  return call('WritePlanTool_begin', args) + END_OF_CALLS;
}

/** A whole answer at once. */
export async function reply({ head, send, end }: Answering, body: string): Promise<void> {
  head(200);
  await send(body);
  end();
}

/** Sends a piece again and again, until the other end stops reading or so many bytes are sent. */
export async function flood(
  { send }: Pick<Answering, 'send'>,
  piece: string,
  bytes = 600 * 1024 * 1024,
): Promise<void> {
  const block = piece.repeat(Math.max(1, Math.ceil(65_536 / piece.length)));
  const size = Buffer.byteLength(block);
  for (let sent = 0; sent < bytes; sent += size) if (!(await send(block))) return;
}

export const HONEST_TEXT = 'one\ntwo\n';

/** Writes one file as it should be; each stage can be put in another's place. */
export function writing(
  target: string,
  instead: Partial<Record<Asked['stage'], Manner>> & { readonly begin_more?: object } = {},
): Manner {
  return (asked, answer) => {
    const own = instead[asked.stage];
    if (own !== undefined) return own(asked, answer);
    switch (asked.stage) {
      case 'begin':
        return reply(answer, begin(target, instead.begin_more));
      case 'content':
        return reply(answer, say(`${HONEST_TEXT}DONE\n`) + END);
      case 'after':
        return reply(answer, say('Written.') + END);
    }
  };
}

/** The words of one turn with this provider. */
export function turn(
  url: string,
  options: readonly string[] = [],
  prompt = 'Write it.',
): readonly string[] {
  return ['run', prompt, '--base-url', url, '--model', 'm', '--json', ...options];
}

/** Each of these is begun once by the model; none may be written. */
export const beginsEach =
  (targets: readonly string[]): Manner =>
  (asked, to) => {
    if (asked.stage === 'content') return reply(to, say('pwned\nDONE\n') + END);
    const done = asked.text.split('"role":"tool"').length - 1;
    const target = targets[done];
    return reply(
      to,
      target === undefined ? say('Done.') + END : begin(target, { operation: 'create' }),
    );
  };

// A model in a process of its own: it sends tokens at a rate, each with the time at which it was sent, to whoever asks as
// of a chat-completions server, and on /raw as events of a stream that nothing stands between.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { BEGIN_TOOL_NAME } from '@orion/contracts';

type Message = { readonly role: string; readonly content?: unknown };

/** What follows the time in a token: a line of a file ends, and a flood is wide. */
const ENDS: Readonly<Record<string, string>> = { write: '\n', flood: 'x'.repeat(8_000) };

const now = (): number => performance.timeOrigin + performance.now();
const stamp = (): string => `T${now().toFixed(1)};`;

/** Calls back that often a second, that many times, and then once more with null. */
function atRate(rate: number, count: number, tell: (index: number | null) => void): void {
  const began = performance.now();
  let sent = 0;
  const step = (): void => {
    const due = Math.min(count, Math.floor(((performance.now() - began) * rate) / 1000) + 1);
    while (sent < due) tell(sent++);
    if (sent < count)
      setTimeout(step, Math.max(1, began + (sent * 1000) / rate - performance.now()));
    else tell(null);
  };
  step();
}

function raw(url: URL, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const [rate, count] = [
    Number(url.searchParams.get('rate')),
    Number(url.searchParams.get('count')),
  ];
  atRate(rate, count, (index) => {
    if (index === null) response.end('event: done\ndata: {"type":"done"}\n\n');
    else {
      const data = JSON.stringify({ type: 'chunk', seq: index + 1, content: stamp() });
      response.write(`id: ${index + 1}\nevent: chunk\ndata: ${data}\n\n`);
    }
  });
}

async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as {
    readonly messages: readonly Message[];
  };
  const textOf = ({ content }: Message): string =>
    typeof content === 'string' ? content : JSON.stringify(content ?? '');
  const asked = messages.filter(({ role }) => role === 'user').map(textOf);
  const [, what = 'talk', name = '', rate = '1', count = '1'] =
    asked
      .map((text) => /(talk|flood|write) (\S+) (\d+) (\d+)/u.exec(text))
      .find((found) => found) ?? [];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const event = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices };
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  const end = (finish: string): void => {
    send({}, finish);
    response.end('data: [DONE]\n\n');
  };
  const results = messages.filter(({ role }) => role === 'tool').map(textOf);
  if (what === 'write' && !messages.some(({ role }) => role === 'tool')) {
    const call = {
      intent: 'measure',
      target_file: `${name}.txt`,
      operation: 'create',
    };
    send({
      tool_calls: [
        {
          index: 0,
          id: `call-${name}`,
          type: 'function',
          function: { name: BEGIN_TOOL_NAME, arguments: JSON.stringify(call) },
        },
      ],
    });
    end('tool_calls');
    return;
  }
  if (what === 'write' && results.some((text) => text.includes('sha256'))) {
    send({ content: 'It is written.' });
    end('stop');
    return;
  }
  atRate(Number(rate), Number(count), (index) => {
    if (index !== null) send({ content: `${stamp()}${ENDS[what] ?? ''}` });
    else {
      if (what === 'write') send({ content: 'DONE' });
      end('stop');
    }
  });
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://localhost');
  if (url.pathname === '/raw') raw(url, response);
  else void complete(request, response);
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});

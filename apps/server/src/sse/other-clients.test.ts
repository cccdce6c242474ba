// Clients that we did not write read the same events: libraries, curl, and Python's standard library.
import { spawn, spawnSync } from 'node:child_process';

import type { RunEvent } from '@orion/contracts';
import { EventSource } from 'eventsource';
import { describe, expect, it } from 'vitest';

import { openStream } from '../testing/read-stream.ts';
import { TOKEN } from '../testing/test-server.ts';
import { done, startTurnServer, text } from '../testing/turn-server.ts';
import type { TurnServer } from '../testing/turn-server.ts';

const HOSTILE = [
  'plain',
  'a\rb\nc\r\nd\n\nevent: done\ndata: {"type":"done"}\n\n',
  'NEL \u0085 LS \u2028 PS \u2029 VT \u000b FF \u000c FS \u001c NUL \u0000 BOM \ufeff',
  '😀 é 漢字 \\ " </script>',
];

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

async function withHostileTurn(server: TurnServer): Promise<readonly RunEvent[]> {
  const turn = await server.begin('t');
  return turn.write(...HOSTILE.map(text), done(HOSTILE.join('')));
}

const urlOf = ({ port }: TurnServer): string => `http://127.0.0.1:${port}/api/turns/t/events`;

describe('hostile text arrives unchanged', () => {
  it('at eventsource-parser', async () => {
    const server = await startTurnServer();
    const written = await withHostileTurn(server);
    const stream = await openStream(server.port, '/api/turns/t/events');
    await stream.ended;
    expect(stream.messages.map(({ data }) => JSON.parse(data))).toEqual(written);
  });

  it.runIf(has('curl'))('at curl', async () => {
    const server = await startTurnServer();
    const written = await withHostileTurn(server);
    const out = await run('curl', ['-sN', '-H', `Authorization: Bearer ${TOKEN}`, urlOf(server)]);
    const data = out.split('\n').filter((line) => line.startsWith('data: '));
    expect(data.map((line) => JSON.parse(line.slice(6)))).toEqual(written);
  });

  it.runIf(has('python3'))('at a program in Python that splits lines as Python does', async () => {
    const server = await startTurnServer();
    const written = await withHostileTurn(server);
    const program = [
      'import json, sys, urllib.request',
      'request = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer " + sys.argv[2]})',
      'lines = urllib.request.urlopen(request).read().decode("utf-8").splitlines()',
      'events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]',
      'print(json.dumps(events))',
    ].join('\n');
    const out = await run('python3', ['-c', program, urlOf(server), TOKEN]);
    expect(JSON.parse(out)).toEqual(written);
  });
});

describe('a browser’s EventSource', () => {
  it('connects again by itself wherever it is cut off, has each event once, and then stops', async () => {
    const server = await startTurnServer();
    const turn = await server.begin('t');
    const seen: number[] = [];
    let requests = 0;
    const source = new EventSource(urlOf(server), {
      fetch: (url, init) => {
        requests += 1;
        return fetch(url, init);
      },
    });
    const ended = new Promise<void>((resolve) => {
      const onMessage = (message: { readonly data: string }): void => {
        const event = JSON.parse(message.data) as RunEvent;
        seen.push(event.seq);
        // The server ends all streams, as when its process is about to end.
        if (event.seq % 3 === 0) server.streams.end();
        void turn.write(event.seq === 9 ? done() : text('next')).catch(() => undefined);
      };
      source.addEventListener('chunk', onMessage);
      source.addEventListener('done', onMessage);
      source.addEventListener('error', () => {
        if (source.readyState === source.CLOSED) resolve();
      });
    });
    await turn.write(text('first'));
    await ended;
    source.close();
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    // The last one was told that there is nothing more (204).
    expect(requests).toBeGreaterThanOrEqual(5);
  }, 20_000);

  it('that knows only chunk, error and done has the whole answer', async () => {
    const server = await startTurnServer();
    const turn = await server.begin('t');
    const text1 = text('Hello ');
    await turn.write(
      { type: 'phase', phase: 'action', index: 0 },
      text1,
      { type: 'tool_calls', calls: [{ id: 'c', name: 'read_file', arguments: '{}' }] },
      { type: 'tool_result', callId: 'c', toolName: 'read_file', ok: true, summary: 'read' },
      text('world'),
      { type: 'error', error: { code: 'PROVIDER_ERROR', message: 'cut', retryable: true } },
      done('Hello world'),
    );
    const source = new EventSource(urlOf(server));
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      const content = (message: { readonly data: string }): RunEvent =>
        JSON.parse(message.data) as never;
      source.addEventListener('chunk', (message) => {
        const event = content(message);
        if (event.type === 'chunk') seen.push(event.content);
      });
      source.addEventListener('error', (message) => {
        if ('data' in message) seen.push(String(content(message as never).type));
      });
      source.addEventListener('done', (message) => {
        seen.push(content(message).type);
        source.close();
        resolve();
      });
    });
    expect(seen).toEqual(['Hello ', 'world', 'error', 'done']);
  });
});

function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
    child.once('error', reject);
    child.once('close', () => resolve(out));
  });
}

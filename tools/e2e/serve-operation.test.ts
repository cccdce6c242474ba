// What whoever operates the server is told, and what nobody is.
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { LAST_WORD, writeDocument } from './support/scripts.ts';
import { say, serve, SERVER_TOKEN } from './support/serve.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const KEY = 'sk-e2e-0123456789abcdefghij';
const TEXT = 'one\ntwo\nthree\n';

test.concurrent('neither the key nor the token is in an answer, an event, the log or a file', async ({
  machine,
}) => {
  // A model that repeats what it should not know, in words and in a call.
  const said = `The key is ${KEY}, the token ${SERVER_TOKEN}.`;
  const provider = await machine.provider({
    apiKey: KEY,
    behaviours: [
      {
        when: { toolResults: 0 },
        reply: {
          text: said,
          toolCalls: [{ name: 'read_file', arguments: { path: `${KEY}/${SERVER_TOKEN}` } }],
        },
        shape: { chunk: 3 },
      },
      { reply: { text: said }, shape: { chunk: 7 } },
    ],
  });
  const env = { OPENAI_API_KEY: KEY };
  const server = await serve(machine, [...at(provider), '--log-level', 'debug'], { env });
  const { answer, events } = await say(server, { content: said });
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  const { turnId } = (await server.ask('/api/turns')).json as { readonly turnId?: string };
  expect(turnId).toBeUndefined();
  const id = events[0]?.requestId ?? '';
  const answers = [
    answer,
    await server.ask(`/api/turns/${id}`),
    await server.ask(`/api/turns/${id}/events`, { headers: { accept: 'application/json' } }),
    await server.ask(`/api/traces?requestId=${id}`),
    await server.ask('/api/conversations'),
    await server.ask(`/api/conversations/${events[0]?.conversationId ?? ''}`),
    await server.ask(`/api/conversations/${SERVER_TOKEN}`),
    await server.ask('/metrics'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 404, 200]);
  server.running.kill('SIGTERM');
  const { stdout, stderr, exitCode } = await server.running.finished;
  expect(exitCode).toBe(0);
  const all = answers.map(({ text }) => text).join('') + stdout + stderr;
  expect(all).toContain('[REDACTED]');
  for (const secret of [KEY, SERVER_TOKEN]) {
    const place = all.indexOf(secret);
    expect(place === -1 ? '' : all.slice(Math.max(0, place - 200), place + 50)).toBe('');
  }
  for (const file of await readdir(machine.root, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const text = await readFile(join(file.parentPath, file.name), 'latin1');
    expect([file.name, text.includes(KEY), text.includes(SERVER_TOKEN)]).toEqual([
      file.name,
      false,
      false,
    ]);
  }
});

test.concurrent('the metrics count a turn, its tokens, and the bytes of its file', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeDocument({ target: 'a.txt', content: TEXT }, { shape: { usage: true } }),
  );
  const server = await serve(machine, at(provider));
  await say(server, { content: 'Write it.' });
  const text = await waitFor('the end of the turn in the metrics', async () => {
    const metrics = await server.ask('/metrics');
    return /orion_turns_total\{[^}]*status="complete"[^}]*\} 1\n/u.test(metrics.text)
      ? metrics.text
      : null;
  });
  const valueOf = (name: string): number =>
    Number(new RegExp(`^${name}[^\\n]*\\} (\\S+)$`, 'mu').exec(text)?.[1]);
  expect(text).toMatch(/orion_turns_total\{[^}]*protocol="standard"/u);
  expect(valueOf('orion_write_session_bytes_total\\{stage="saved"')).toBeGreaterThanOrEqual(
    TEXT.length,
  );
  expect(valueOf('orion_write_session_bytes_total\\{stage="synced"')).toBeGreaterThanOrEqual(
    TEXT.length,
  );
  expect(valueOf('orion_event_loop_delay_seconds\\{quantile="0.5"')).toBeLessThan(1);
});

test.concurrent('a log level leaves out what is below it', async ({ machine }) => {
  const quiet = await serve(machine, ['--log-level', 'warn']);
  expect((await quiet.ask('/none')).status).toBe(404);
  quiet.running.kill('SIGTERM');
  // The link of the page and the word of the end are for a person, not of the log.
  expect((await quiet.running.finished).stderr).toMatch(/^Page: [^\n]+\nStopping\.\n$/u);
});

test.concurrent('turns go to a collector as those of the command do', async ({ machine }) => {
  const bodies: string[] = [];
  const collector = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (part: string) => (body += part));
    incoming.on('end', () => {
      bodies.push(body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => {
    collector.listen(0, '127.0.0.1', resolve);
  });
  try {
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const env = { ORION_TELEMETRY: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    const server = await serve(machine, at(provider), { env });
    await say(server, { content: 'a-word-of-the-prompt' });
    server.running.kill('SIGTERM');
    await server.running.finished;
    expect(bodies.join('')).toContain('invoke_agent orion');
    expect(bodies.join('')).not.toContain('a-word-of-the-prompt');
  } finally {
    collector.close();
  }
});

test.concurrent('a turn that a kill interrupts is continued by the next start, byte for byte', async ({
  machine,
}) => {
  const lines = Array.from({ length: 400 }, (_, line) => `line ${line}\n`).join('');
  const provider = await machine.provider(
    writeDocument({ target: 'a.txt', content: lines }, { shape: { eventsPerSecond: 100 } }),
  );
  const env = { WRITE_SESSION_SAVE_MS: '50' };
  const first = await serve(machine, at(provider), { env });
  const headers = { accept: 'application/json' };
  const begun = await first.ask('/api/chat/messages', { json: { content: 'Write it.' }, headers });
  const { turnId } = begun.json as { readonly turnId: string };
  expect([begun.status, begun.headers.location]).toEqual([202, `/api/turns/${turnId}`]);
  await machine.savedSession(200);
  first.running.kill('SIGKILL');
  await first.running.finished;
  expect(await machine.exists('a.txt')).toBe(false);

  const second = await serve(machine, at(provider), { env });
  const answer = await second.ask(`/api/turns/${turnId}/events`);
  const done = answer.text.split('\n\n').filter((frame) => frame.includes('event: done'));
  expect(done).toHaveLength(1);
  expect(String(await machine.read('a.txt'))).toBe(lines);
});

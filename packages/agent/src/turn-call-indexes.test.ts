import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import type { RunEvent } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { createOrion } from './create-orion.ts';
import { temporaryDirectory } from './testing/set-up.ts';

/**
 * Hazard: the map by which deltas are merged (their index and their id) is taken for calls: it then stands in the
 * events, in the history that the provider reads next, or among what is run (R165).
 */

const delta = (call: object): object => ({
  choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }],
});

/** Two calls whose fragments come in turns, so that both are open under their index at once. */
const INTERLEAVED: readonly object[] = [
  delta({ index: 0, id: 'call_a', type: 'function', function: { name: 'read_file' } }),
  delta({ index: 1, id: 'call_b', type: 'function', function: { name: 'read_file' } }),
  delta({ index: 0, function: { arguments: '{"path":' } }),
  delta({ index: 1, function: { arguments: '{"path":"b' } }),
  delta({ index: 0, function: { arguments: '"a.txt"}' } }),
  delta({ index: 1, function: { arguments: '.txt"}' } }),
  { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
];

const ANSWER: readonly object[] = [
  { choices: [{ index: 0, delta: { content: 'Read.' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
];

type SentMessage = { readonly role: string; readonly tool_calls?: readonly unknown[] };

async function startProvider() {
  const requests: { readonly messages: readonly SentMessage[] }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    request.on('end', () => {
      requests.push(JSON.parse(text) as (typeof requests)[number]);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const payload of requests.length === 1 ? INTERLEAVED : ANSWER) {
        response.write(`data: ${JSON.stringify({ id: 'x', ...payload })}\n\n`);
      }
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

it.for([
  ['standard', ['a', 'b']],
  ['two-stage', ['a']],
] as const)('R165: %s has the calls and nothing of their indexes', async ([protocol, taken]) => {
  const workspace = await temporaryDirectory();
  for (const name of ['a', 'b']) await writeFile(join(workspace, `${name}.txt`), `text ${name}\n`);
  const provider = await startProvider();
  const orion = await createOrion({
    workspace,
    store: 'memory',
    provider: { type: 'openai', model: 'scripted', baseUrl: provider.url },
  });
  const events: RunEvent[] = [];
  for await (const event of orion.runTurn({ content: 'Read.', protocol })) events.push(event);
  await orion.close();

  const calls = taken.map((name) => ({
    id: `call_${name}`,
    name: 'read_file',
    arguments: `{"path":"${name}.txt"}`,
  }));
  const told = events.flatMap((event) => (event.type === 'tool_calls' ? event.calls : []));
  expect(told).toEqual(calls);
  expect(events.filter((event) => event.type === 'tool_result')).toMatchObject(
    calls.map(({ id }) => ({ callId: id, ok: true })),
  );
  const history = provider.requests[1]?.messages ?? [];
  expect(history.flatMap((message) => message.tool_calls ?? [])).toEqual(
    calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    })),
  );
  expect(history.filter(({ role }) => role === 'tool')).toHaveLength(calls.length);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete', fullContent: 'Read.' });
});

// @module-tag long
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { expect, onTestFinished } from 'vitest';

import { test } from './support/test.ts';

const CALLS = 6;
const PAUSE_MS = 150;

type Provider = {
  readonly url: string;
  /** How many calls each answer had sent when its connection was closed or the answer was over. */
  readonly callsSent: number[];
};

/** Six calls of one message, one after the other or all at once, then the answer; each message reports its tokens. */
async function startProvider(pauseMs: number): Promise<Provider> {
  const callsSent: number[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const number = callsSent.push(0) - 1;
    let closed = false;
    response.on('close', () => {
      closed = true;
    });
    const event = (payload: object): string => `data: ${JSON.stringify(payload)}\n\n`;
    const delta = (value: object, finishReason: string | null = null): string =>
      event({ id: 'x', choices: [{ index: 0, delta: value, finish_reason: finishReason }] });
    const end = (reason: string): string =>
      `${delta({}, reason)}${event({ id: 'x', choices: [], usage: { prompt_tokens: 100, completion_tokens: 5000 } })}data: [DONE]\n\n`;
    void (async () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (number > 0) {
        response.end(delta({ content: 'Answer.\n' }) + end('stop'));
        return;
      }
      let held = '';
      for (let index = 0; index < CALLS && !closed; index += 1) {
        const call = {
          index,
          id: `call_${index}`,
          type: 'function',
          function: { name: 'read_file', arguments: JSON.stringify({ path: `${index}.txt` }) },
        };
        held += delta({ tool_calls: [call] });
        callsSent[number] = index + 1;
        if (pauseMs === 0) continue;
        response.write(held);
        held = '';
        await wait(pauseMs);
      }
      if (!closed) response.end(held + end('tool_calls'));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, callsSent };
}

const args = (provider: Provider, ...more: readonly string[]): readonly string[] => [
  'run',
  'Read.',
  '--base-url',
  provider.url,
  '--model',
  'm',
  '--json',
  ...more,
];

test('R148: two-stage closes the request at the first call, while the model continues', async ({
  machine,
}) => {
  await machine.write('0.txt', 'the content\n');
  const provider = await startProvider(PAUSE_MS);
  const ended = await machine.run(args(provider, '--protocol', 'two-stage'));
  expect(ended.exitCode, ended.stderr).toBe(0);
  // The second call has begun, or the first one would not be over; the third one may be under way.
  expect(provider.callsSent[0]).toBeLessThanOrEqual(3);
  const results = ended.events().filter((event) => event.type === 'tool_result');
  expect(results).toHaveLength(1);
  expect(ended.events().at(-1)).toMatchObject({ type: 'done', fullContent: 'Answer.\n' });
});

test('R154: standard reads on and runs all of them', async ({ machine }) => {
  for (let index = 0; index < CALLS; index += 1) await machine.write(`${index}.txt`, 'text\n');
  const provider = await startProvider(PAUSE_MS);
  const ended = await machine.run(args(provider, '--protocol', 'standard'));
  expect(provider.callsSent[0]).toBe(CALLS);
  expect(ended.events().filter((event) => event.type === 'tool_result')).toHaveLength(CALLS);
});

test('R169, R251: what the provider counted by then is reported, and no budget is evaded', async ({
  machine,
}) => {
  await machine.write('0.txt', 'the content\n');
  for (const protocol of ['two-stage', 'standard']) {
    const provider = await startProvider(0);
    const ended = await machine.run(args(provider, '--protocol', protocol, '--max-tokens', '1000'));
    expect(ended.events().filter((event) => event.type === 'usage')).toMatchObject([
      { inputTokens: 100, outputTokens: 5000 },
    ]);
    expect(ended.events().at(-1)).toMatchObject({ type: 'done', stopReason: 'max_tokens' });
    expect(provider.callsSent).toHaveLength(1);
  }
});

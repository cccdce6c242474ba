import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { expect, onTestFinished } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { test } from './support/test.ts';

/** No pattern matches it: only its own letters give it away. */
const KEY = 'k3y.With/Slash+0123456789-abcdefXYZ';
const IN_URL = encodeURIComponent(KEY);
const IN_BASE64 = Buffer.from(`user:${KEY}:x`).toString('base64');

/** Answers the requests one after the other with these bodies of server-sent events. */
async function startServer(bodies: readonly string[]): Promise<string> {
  let answered = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(bodies[answered]);
      answered += 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const said = (...pieces: readonly string[]): string =>
  pieces.map((content) => event({ content })).join('');
const called = (index: number, id: string, name: string, args: object): string =>
  event({
    tool_calls: [
      { index, id, type: 'function', function: { name, arguments: JSON.stringify(args) } },
    ],
  });
const END = 'data: [DONE]\n\n';

/** Every eight characters of the key, in each of its forms: no more of it may be anywhere. */
const PIECES: readonly string[] = [KEY, IN_URL, IN_BASE64.slice(8, -4)].flatMap((form) =>
  Array.from({ length: form.length - 7 }, (_, start) => form.slice(start, start + 8)),
);

function findPieces(text: string): readonly string[] {
  return PIECES.filter((piece) => text.includes(piece));
}

async function filesWithPieces(machine: Sandbox): Promise<readonly string[]> {
  const entries = await readdir(machine.root, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const text = await readFile(join(entry.parentPath, entry.name), 'latin1');
    if (findPieces(text).length > 0) found.push(entry.name);
  }
  return found;
}

test('issue 12, 11: a provider says the key in every way, and only the file that it writes has it', async ({
  machine,
}) => {
  const begin = { intent: 'test', target_file: 'a.txt', operation: 'create' };
  const baseUrl = await startServer([
    said('I know ', KEY.slice(0, 11), KEY.slice(11), `, ${IN_URL} and ${IN_BASE64}.`) +
      called(0, `id-${KEY}`, `tool_${KEY}`, { a: KEY }) +
      called(1, 'c2', 'read_file', { path: `${KEY}.txt` }) +
      called(2, 'c3', 'read_file', { path: `${'x'.repeat(150)}${KEY}.txt` }) +
      event({}, 'tool_calls') +
      END,
    called(0, 'c4', 'WritePlanTool_begin', begin) + event({}, 'tool_calls') + END,
    said(`the key is ${KEY}\n`, 'DONE\n') + event({}, 'stop') + END,
    // A payload that is no JSON is quoted: the key is where the quote is cut, at 200 characters.
    `data: {broken ${'x'.repeat(170)}${KEY}\n\n${END}`,
  ]);
  const ended = await machine.run(
    ['run', 'Say it.', '--json', '--verbose', '--base-url', baseUrl, '--model', 'm'],
    { env: { OPENAI_API_KEY: KEY } },
  );

  expect(String(await machine.read('a.txt'))).toBe(`the key is ${KEY}\n`);
  expect(ended.stdout).toContain('I know [REDACTED], [REDACTED] and ');
  expect(ended.stdout).toContain('tool_[REDACTED]');
  expect(ended.stderr).toContain('a payload is not JSON');
  expect(findPieces(ended.stdout)).toEqual([]);
  expect(findPieces(ended.stderr)).toEqual([]);
  const { conversationId } = ended.events()[0] ?? { conversationId: '' };
  const shown = await machine.run(['conversations', 'show', conversationId]);
  expect(shown.stdout).toContain('I know [REDACTED]');
  expect(findPieces(shown.stdout)).toEqual([]);
  expect(await filesWithPieces(machine)).toEqual(['a.txt']);
});

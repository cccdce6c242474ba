import { systemClock } from '@orion/contracts';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { LlmEvent } from '@orion/contracts';
import { callsReply, collect, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import { createWorkspace } from '@orion/workspace';
import { describe, expect, test } from 'vitest';

import { temporaryDirectory, openOrion } from '../testing/set-up.ts';
import { captureArguments } from './argument-capture.ts';

const LONG = 'ü\n'.repeat(400);

async function prepare(events: readonly LlmEvent[]) {
  const root = await temporaryDirectory();
  const workspace = await createWorkspace({ root, clock: systemClock });
  const kept = captureArguments(createFakeAdapter([events]), workspace);
  const seen = await collect(kept.adapter.sendMessagesStreaming([], {}));
  const texts = (): Promise<string[]> => readdir(join(root, '.orion', 'texts')).catch(() => []);
  return { root, kept, seen, texts };
}

test('R258: each content is kept whole, is named by its call, and goes when the call has succeeded', async () => {
  const call = toolCall('1', 'mcp_write', {
    files: [{ content: LONG }, { text: `${LONG}!` }],
    path: LONG,
  });
  const { root, kept, seen, texts } = await prepare(callsReply([call]));
  const [end] = seen.flatMap((event) => (event.type === 'tool-call-end' ? [event.call] : []));
  expect(end?.kept).toMatchObject([
    { name: 'content', lines: 401, bytes: 1200 },
    { name: 'text', lines: 401, bytes: 1201 },
  ]);
  expect(await readFile(join(root, end?.kept?.[0]?.path ?? ''), 'utf8')).toBe(LONG);
  expect(await texts()).toHaveLength(2);
  await kept.discard([{ name: 'content', path: 'another', lines: 401, bytes: 1200 }]);
  expect(await texts()).toHaveLength(2);
  await kept.discard(end?.kept ?? []);
  expect(await texts()).toEqual([]);
});

test('R258: what is no content, or empty, is left alone', async () => {
  const call = toolCall('1', 'read_file', { path: LONG, content: '' });
  const { seen, texts } = await prepare(callsReply([call]));
  expect(seen).toEqual(callsReply([call]));
  expect(await texts()).toEqual([]);
});

test('R258: a short content is kept, too', async () => {
  const call = toolCall('1', 'no_such_tool', { content: 'short\n' });
  const { root, seen } = await prepare(callsReply([call]));
  const [kept] = seen.flatMap((event) =>
    event.type === 'tool-call-end' ? (event.call.kept ?? []) : [],
  );
  expect(kept).toMatchObject({ name: 'content', lines: 2, bytes: 6 });
  expect(await readFile(join(root, kept?.path ?? ''), 'utf8')).toBe('short\n');
});

describe('R258: arguments that are no JSON are kept as they came, and nothing else of them', () => {
  const broken: readonly (readonly [string, string])[] = [
    [
      'with quotes that are not escaped',
      '{"content": "const a = "x";\\nconst b = 1;", "path": "a"}',
    ],
    ['where the quotes come late', `{"content": ${JSON.stringify(LONG).slice(0, -1)}"x" }`],
    ['with real line breaks in a string', '{"content": "one\ntwo"}'],
    ['that are no object', 'a = 1'],
  ];
  test.for(broken)('%s', async ([, text]) => {
    const pieces = text.match(/[^]{1,7}/gu) ?? [];
    const call = toolCall('1', 'WritePlanTool_begin', text, 'malformed');
    const { root, seen, texts } = await prepare([
      { type: 'tool-call-start', index: 0, id: '1', name: call.name },
      ...pieces.map(
        (argumentsDelta) => ({ type: 'tool-call-delta', index: 0, argumentsDelta }) as const,
      ),
      { type: 'tool-call-end', index: 0, call },
      { type: 'finish', reason: 'tool_calls' },
    ]);
    const kept = seen.flatMap((event) =>
      event.type === 'tool-call-end' ? (event.call.kept ?? []) : [],
    );
    expect(kept).toEqual([
      {
        name: 'arguments',
        raw: true,
        path: expect.stringMatching(/\.txt$/),
        bytes: Buffer.byteLength(text),
        lines: text.split('\n').length,
      },
    ]);
    expect(await readFile(join(root, kept[0]?.path ?? ''), 'utf8')).toBe(text);
    expect(await texts()).toHaveLength(1);
  });

  test('also when the message breaks off', async () => {
    const error = { code: 'STREAM_BROKEN', message: 'It broke.', retryable: true } as const;
    const { root, seen, texts } = await prepare([
      { type: 'tool-call-start', index: 0, id: '1', name: 'write' },
      { type: 'tool-call-delta', index: 0, argumentsDelta: '{"content": "a = "b"' },
      { type: 'error', error },
    ]);
    const [name] = await texts();
    expect(seen.at(-1)).toEqual({
      type: 'error',
      error: {
        ...error,
        message: `It broke. The line of arguments, exactly as they came, is kept in .orion/texts/${name}.`,
      },
    });
    expect(await readFile(join(root, '.orion/texts', name ?? ''), 'utf8')).toBe(
      '{"content": "a = "b"',
    );
  });
});

test('R258: a call that succeeds takes nothing from another one of the same id', async () => {
  const root = await temporaryDirectory();
  await writeFile(join(root, 'a.txt'), 'a\n');
  const adapter = createFakeAdapter([
    callsReply([
      toolCall('x', 'read_file', { path: 'a.txt' }),
      toolCall('x', 'write_to_file', { path: 'b.txt', content: `${LONG}lost?` }),
    ]),
    textReply('Sorry.'),
  ]);
  const orion = await openOrion({ workspace: root, adapter });
  const events = await collect(orion.runTurn({ content: 'write' }));
  expect(events.flatMap((event) => (event.type === 'tool_result' ? [event.ok] : []))).toEqual([
    true,
    false,
  ]);
  const answers = adapter.requests[1]?.messages.filter(({ role }) => role === 'tool') ?? [];
  const [, place] = /kept in (\S+\.txt)\./.exec(answers[1]?.content ?? '') ?? [];
  expect(
    new Set(answers.map((message) => message.role === 'tool' && message.toolCallId)).size,
  ).toBe(2);
  expect(await readFile(join(root, place ?? ''), 'utf8')).toBe(`${LONG}lost?`);
});

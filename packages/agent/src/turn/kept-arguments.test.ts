import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { LlmEvent } from '@orion/contracts';
import { callsReply, collect, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import { createWorkspace } from '@orion/workspace';
import { expect, onTestFinished, test } from 'vitest';

import { createOrion } from '../create-orion.ts';
import { systemClock } from '../system-clock.ts';
import { keepArguments } from './kept-arguments.ts';

const LONG = 'ü\n'.repeat(400);

async function prepare(events: readonly LlmEvent[]) {
  const root = await mkdtemp(join(tmpdir(), 'orion-kept-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const workspace = await createWorkspace({ root, clock: systemClock });
  const kept = keepArguments(createFakeAdapter([events]), workspace);
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

test('what is short, or is no content, is left alone', async () => {
  const call = toolCall('1', 'read_file', { path: LONG, content: 'short' });
  const { seen, texts } = await prepare(callsReply([call]));
  expect(seen).toEqual(callsReply([call]));
  expect(await texts()).toEqual([]);
});

test('R258: a call that succeeds takes nothing from another one of the same id', async () => {
  const root = await mkdtemp(join(tmpdir(), 'orion-kept-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, 'a.txt'), 'a\n');
  const adapter = createFakeAdapter([
    callsReply([
      toolCall('x', 'read_file', { path: 'a.txt' }),
      toolCall('x', 'write_to_file', { path: 'b.txt', content: `${LONG}lost?` }),
    ]),
    textReply('Sorry.'),
  ]);
  const orion = await createOrion({ workspace: root, store: 'memory', adapter });
  onTestFinished(() => orion.close());
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

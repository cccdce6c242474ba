import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ProviderData, RunEvent } from '@orion/contracts';
import { createContentProtocol } from '@orion/protocols';
import {
  callsReply,
  createFakeAdapter,
  describeProtocolContract,
  textReply,
  toolCall,
} from '@orion/testkit';
import { expect, it } from 'vitest';

import { createOrion } from './create-orion.ts';
import { OneLookProtocol } from './testing/one-look-protocol.ts';

/** The protocol of docs/guides/writing-a-protocol.md: what the guide shows is what is compiled and run here. */
describeProtocolContract('one-look, of the guide', () => new OneLookProtocol(), {
  maxModelCalls: 2,
  contentStage: createContentProtocol,
});

it('the guide shows the program that these tests run', async () => {
  const guide = await readFile(
    new URL('../../../docs/guides/writing-a-protocol.md', import.meta.url),
    'utf8',
  );
  const program = await readFile(new URL('testing/one-look-protocol.ts', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
  expect(blocks).toContain(program);
  // The other blocks are lines of this file.
  const here = await readFile(new URL(import.meta.url), 'utf8');
  const withoutIndent = (text: string): string => text.replaceAll(/^\s+/gm, '');
  for (const block of blocks.filter((each) => each !== program)) {
    for (const line of withoutIndent(block ?? '').split('\n')) {
      expect(withoutIndent(here)).toContain(line);
    }
  }
});

it('runs a whole turn, files included', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'orion-guide-'));
  const adapter = createFakeAdapter([
    callsReply([
      toolCall('1', 'WritePlanTool_begin', {
        intent: 'test',
        target_file: 'a.txt',
        operation: 'create',
      }),
    ]),
    textReply('one line\n', 'DONE'),
    textReply('Written.'),
  ]);
  const orion = await createOrion({ workspace, adapter, protocol: new OneLookProtocol() });
  const events: RunEvent[] = [];
  for await (const event of orion.runTurn({ content: 'Write a.txt' })) events.push(event);
  await orion.close();

  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('one line\n');
  // The one look, the file, and the answer: a written file is no new look.
  expect(
    adapter.requests.map(({ options }) => [options.tools !== undefined, options.tool_choice]),
  ).toEqual([
    [true, undefined],
    [true, 'none'],
    [false, undefined],
  ]);
  expect(events.at(-1)).toMatchObject({
    type: 'done',
    status: 'complete',
    protocol: 'one-look',
    fullContent: 'Written.',
  });
  await rm(workspace, { recursive: true, force: true });
});

it('looks as often as its own limit says, over all files of a turn', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'orion-guide-'));
  const begin = toolCall('1', 'WritePlanTool_begin', {
    intent: 'test',
    target_file: 'a.txt',
    operation: 'create',
  });
  const adapter = createFakeAdapter([
    callsReply([begin]),
    textReply('one line\n', 'DONE'),
    callsReply([toolCall('2', 'read_file', { path: 'a.txt' })]),
    textReply('Written.'),
  ]);
  const curious = await createOrion({
    workspace,
    adapter,
    protocol: new OneLookProtocol(),
    limits: { 'one-look': { maxLooks: 2 } },
  });
  const events: RunEvent[] = [];
  for await (const event of curious.runTurn({ content: 'Write a.txt' })) events.push(event);
  await curious.close();

  adapter.assertConsumed();
  expect(adapter.requests.map(({ options }) => options.tools !== undefined)).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'done', fullContent: 'Written.' });
  await rm(workspace, { recursive: true, force: true });
});

it('returns to a provider what belongs to its message', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'orion-guide-'));
  const providerData: ProviderData = { adapter: 'fake', model: 'fake-model', value: 'reasoning' };
  const adapter = createFakeAdapter([
    [
      ...callsReply([toolCall('1', 'read_file', { path: 'a.txt' })]).slice(0, -1),
      { type: 'finish', reason: 'tool_calls', providerData },
    ],
    textReply('Read.'),
  ]);
  const orion = await createOrion({ workspace, adapter, protocol: new OneLookProtocol() });
  for await (const event of orion.runTurn({ content: 'Read a.txt' })) expect(event).toBeDefined();
  await orion.close();

  const asked = adapter.requests[1]?.messages.find(({ role }) => role === 'assistant');
  expect(asked).toMatchObject({ providerData });
  await rm(workspace, { recursive: true, force: true });
});

it('does not look again after a file, whatever the model calls', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'orion-guide-'));
  const begin = (id: string, file: string) =>
    toolCall(id, 'WritePlanTool_begin', {
      intent: 'test',
      target_file: file,
      operation: 'create',
    });
  const adapter = createFakeAdapter([
    callsReply([begin('1', 'a.txt')]),
    textReply('one line\n', 'DONE'),
    callsReply([begin('2', 'b.txt')], 'Another one.'),
  ]);
  const orion = await createOrion({ workspace, adapter, protocol: new OneLookProtocol() });
  const events: RunEvent[] = [];
  for await (const event of orion.runTurn({ content: 'Write two files' })) events.push(event);
  await orion.close();

  adapter.assertConsumed();
  expect(events.at(-1)).toMatchObject({ type: 'done', fullContent: 'Another one.' });
  await expect(readFile(join(workspace, 'b.txt'))).rejects.toThrow('ENOENT');
  await rm(workspace, { recursive: true, force: true });
});

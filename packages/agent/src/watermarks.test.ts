import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { LlmEvent, RunEvent } from '@orion/contracts';
import { callsReply, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import { expect, onTestFinished, test } from 'vitest';

import { createOrion } from './create-orion.ts';

/** Hazard: a reader of the events takes text for durable that is not, or cannot see that the disk follows. */
test('every piece of content says how much of the file is durable', async () => {
  const root = await mkdtemp(join(tmpdir(), 'orion-watermarks-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const begin = { intent: 'test', target_file: 'a.txt', operation: 'create' };
  const pieces = Array.from({ length: 40 }, (_, piece) => `${piece} ${'x'.repeat(30_000)}\n`);
  const script: LlmEvent[][] = [
    callsReply([toolCall('b', 'WritePlanTool_begin', begin)]),
    textReply(...pieces, 'DONE\n'),
    textReply('Written.'),
  ];
  const adapter = createFakeAdapter(script);
  const orion = await createOrion({ workspace: root, store: 'memory', adapter });
  onTestFinished(() => orion.close());

  const chunks: Extract<RunEvent, { type: 'write_chunk' }>[] = [];
  for await (const event of orion.runTurn({ content: 'Write it.' }))
    if (event.type === 'write_chunk') chunks.push(event);

  const durable = chunks.map(({ durableBytes = 0 }) => durableBytes);
  expect(durable).toEqual(durable.toSorted((one, other) => one - other));
  for (const { offset, length, durableBytes = 0 } of chunks)
    expect(durableBytes).toBeLessThanOrEqual(offset + length);
  expect(durable.at(-1)).toBeGreaterThan(0);
  expect((await stat(join(root, 'a.txt'))).size).toBe(pieces.join('').length);
});

test('what becomes safe while no text comes is reported, and a stall is not a stream of events', async () => {
  const root = await mkdtemp(join(tmpdir(), 'orion-watermarks-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const begin = { intent: 'test', target_file: 'a.txt', operation: 'create' };
  const stall = Promise.withResolvers<void>();
  const [first, ...others] = [
    callsReply([toolCall('b', 'WritePlanTool_begin', begin)]),
    async function* stalling(): AsyncGenerator<LlmEvent> {
      for (const event of textReply('one\ntwo\n')) {
        if (event.type === 'text-delta') yield event;
      }
      await stall.promise;
      yield* textReply('three\nDONE\n');
    },
    textReply('Written.'),
  ];
  const adapter = createFakeAdapter([first ?? [], ...others]);
  const settings = { saveMs: 600 };
  const orion = await createOrion({ workspace: root, store: 'memory', adapter, settings });
  onTestFinished(() => orion.close());
  const events: RunEvent[] = [];
  const reading = (async () => {
    for await (const event of orion.runTurn({ content: 'Write it.' })) events.push(event);
  })();
  const seen = () => events.filter(({ type }) => type === 'write_progress');
  await expect.poll(() => seen().at(-1), { timeout: 10_000 }).toMatchObject({ durableBytes: 8 });
  const marks = { receivedBytes: 8, savedBytes: 8, lines: 2 };
  const all = seen();
  // The operating system has it first.
  expect(all).toMatchObject([
    ...(all.length === 2 ? [{ ...marks, durableBytes: 0 }] : []),
    { ...marks, durableBytes: 8 },
  ]);
  stall.resolve();
  await reading;
  expect(seen().length).toBeLessThan(all.length + 3);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
});

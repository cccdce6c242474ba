import { readdir } from 'node:fs/promises';

import type { LlmEvent, Tool, TurnLogEntry } from '@orion/contracts';
import { callsReply, createFakeClock, textReply, toolCall } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { expect, it } from 'vitest';

import { doneOf, kindsOf, startTurns } from '../testing/test-turns.ts';
import type { TestTurns, TestTurnsOptions } from '../testing/test-turns.ts';

/** Hazard: a turn that was cancelled goes on: it costs, it writes, and its conversation stays busy. */

const STOPPED = { status: 'stopped', stopReason: 'cancelled' };

async function* forEver(
  first: readonly LlmEvent[],
  signal?: AbortSignal,
): AsyncGenerator<LlmEvent> {
  yield* first;
  await new Promise<void>((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener('abort', () => resolve());
  });
}

const hangingReply =
  (first: readonly LlmEvent[] = []): FakeReply =>
  ({ options }) =>
    forEver(first, options.signal);

const HANGING_TOOL: Tool = {
  definition: { name: 'Hang_now', description: 'hangs', parameters: { type: 'object' } },
  effect: 'write',
  execute: (_, { signal }) => untilAborted(null, signal),
};

const untilAborted = (_: unknown, signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(new Error('aborted'));
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

const begin = callsReply([
  toolCall('call-1', 'WritePlanTool_begin', {
    intent: 'test',
    target_file: 'a.txt',
    operation: 'create',
  }),
]);

type Phase = {
  readonly options: TestTurnsOptions;
  /** Whether the turn is there. */
  readonly isThere: (events: readonly TurnLogEntry[], test: TestTurns) => boolean;
};

const PHASES: Readonly<Record<string, Phase>> = {
  'before the first word of the model': {
    options: { replies: [hangingReply()] },
    isThere: (_, { adapter }) => adapter.open() === 1,
  },
  'in the text of the model': {
    options: { replies: [hangingReply(textReply('half').slice(0, 1))] },
    isThere: (events) => kindsOf(events).includes('chunk'),
  },
  'in a tool that hangs': {
    options: { replies: [callsReply([toolCall('c', 'Hang_now', {})])], tools: [HANGING_TOOL] },
    isThere: (events) => kindsOf(events).includes('tool_calls'),
  },
  'in the text of a file': {
    options: { replies: [begin, hangingReply(textReply('one\ntwo\nthree\n').slice(0, 1))] },
    isThere: (events) => kindsOf(events).includes('write_chunk'),
  },
  'while a change waits for an approval': {
    options: { replies: [begin, textReply('one\n', 'DONE\n')], approve: untilAborted },
    isThere: (events) => kindsOf(events).includes('write_chunk'),
  },
};

it.each(Object.keys(PHASES))('ends a turn at once %s', async (name) => {
  const phase = PHASES[name] as Phase;
  // It stands still: nothing is waited for.
  const test = await startTurns({ ...phase.options, serverClock: createFakeClock() });
  const { turns, submit, ended, root } = test;
  const turnId = await submit();
  await expect
    .poll(async () => phase.isThere(await turns.service.log.read(turnId, 0), test), {
      timeout: 5_000,
    })
    .toBe(true);
  expect(await turns.service.cancel(turnId)).toBe('requested');
  const events = await ended(turnId);
  expect(['stopped', 'aborted', 'paused']).toContain(doneOf(events).status);
  expect(await turns.service.find(turnId)).toMatchObject({ state: 'done', cancelRequested: true });
  expect(await turns.service.cancel(turnId)).toBe('finished');
  // Nothing was written, and the conversation is free.
  expect(await readdir(root)).not.toContain('a.txt');
  expect(await submit()).not.toBe(turnId);
});

it('ends a turn that waits at once, and it is never run', async () => {
  const { turns, submit, ended, seen, adapter } = await startTurns({
    slots: 1,
    replies: [hangingReply(), textReply('of the third')],
  });
  const first = await submit({ conversationId: 'a' });
  const second = await submit({ conversationId: 'b', protocol: 'controller' });
  const third = await submit({ conversationId: 'c' });
  await expect.poll(() => adapter.open()).toBe(1);
  expect(await turns.service.cancel(second)).toBe('requested');
  expect(await turns.service.find(second)).toMatchObject({ state: 'done', status: 'stopped' });
  const events = await turns.service.log.read(second, 0);
  expect(events).toMatchObject([{ seq: 1, kind: 'done' }]);
  expect(doneOf(events)).toEqual({
    requestId: second,
    projectId: 'p',
    conversationId: 'b',
    protocol: 'controller',
    phase: 'complete',
    phaseIndex: 0,
    cycleIndex: 0,
    fullContent: '',
    protocolReason: 'the turn ended before it began',
    ...STOPPED,
  });
  expect(seen.filter(({ requestId }) => requestId === second)).toMatchObject([
    { type: 'done', ...STOPPED },
  ]);
  await turns.service.cancel(first);
  await ended(first);
  expect(doneOf(await ended(third)).fullContent).toBe('of the third');
  expect(adapter.requests).toHaveLength(2);
  expect(await submit({ conversationId: 'b' })).not.toBe(second);
});

it('knows no turn that was not submitted', async () => {
  const { turns, orion } = await startTurns();
  await orion.store.turnLog.acquire('of a command', 1);
  expect(await turns.service.cancel('of a command')).toBe('unknown');
  expect(await turns.service.cancel('none')).toBe('unknown');
  expect(await turns.service.find('of a command')).toBeNull();
});

it('learns within half a second of a cancel that another process stored', async () => {
  const serverClock = createFakeClock();
  const { submit, ended, orion, turns } = await startTurns({
    replies: [hangingReply()],
    serverClock,
  });
  const turnId = await submit();
  await expect.poll(() => turns.running()).toBe(1);
  expect(await orion.store.turnLog.requestCancel(turnId)).toBe(true);
  await serverClock.advance(500);
  await ended(turnId);
});

it('looks again at a turn that was given back while it was being cancelled', async () => {
  const { orion, root } = await startTurns();
  const { servedTurns } = orion.store;
  let isStale = true;
  const stale: typeof servedTurns = {
    ...servedTurns,
    async find(turnId) {
      const found = await servedTurns.find(turnId);
      if (!isStale || found === null) return found;
      isStale = false;
      return { ...found, state: 'running' };
    },
  };
  const { turns, submit } = await startTurns({
    root,
    store: { ...orion.store, servedTurns: stale },
    slots: 1,
    replies: [hangingReply()],
  });
  await submit({ conversationId: 'a' });
  const waiting = await submit({ conversationId: 'b' });
  isStale = true;
  expect(await turns.service.cancel(waiting)).toBe('requested');
  expect(doneOf(await turns.service.log.read(waiting, 0))).toMatchObject(STOPPED);
});

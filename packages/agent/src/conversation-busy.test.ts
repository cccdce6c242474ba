import type { LlmEvent, RunEvent } from '@orion/contracts';
import { callsReply, collect, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import type { FakeAdapter, FakeReply } from '@orion/testkit';
import { beforeEach, expect, it } from 'vitest';

import type { Orion } from './orion.ts';
import { temporaryDirectory, openOrion } from './testing/set-up.ts';

/** Hazard: two turns of one conversation at once begin with the same history, and the last one stores only its own. */

let workspace: string;
let orion: Orion;
let adapter: FakeAdapter;

beforeEach(async () => {
  workspace = await temporaryDirectory();
});

async function start(replies: readonly FakeReply[]): Promise<void> {
  adapter = createFakeAdapter(replies);
  orion = await openOrion({ workspace, adapter });
}

function turn(content: string, conversationId = 'c'): AsyncIterable<RunEvent> {
  return orion.runTurn({ content, conversationId });
}

const BUSY = { code: 'CONVERSATION_BUSY', retryable: true };

it('R263: of two turns of one conversation at once one runs; the next has its history', async () => {
  await start([textReply('one'), textReply('two')]);
  const results = await Promise.allSettled([collect(turn('A')), collect(turn('B'))]);
  expect(results).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: BUSY }]);
  await collect(turn('C'));
  expect(adapter.requests[1]?.messages.slice(1).map((message) => message.content)).toEqual([
    'A',
    'one',
    'C',
  ]);
});

it('R263: other conversations run beside it, and it is free again with the done of its turn', async () => {
  await start([textReply('one'), textReply('two'), textReply('three')]);
  const first = turn('A')[Symbol.asyncIterator]();
  expect((await first.next()).done).toBe(false);
  expect((await collect(turn('B', 'd'))).at(-1)).toMatchObject({ status: 'complete' });
  await expect(collect(turn('C'))).rejects.toMatchObject(BUSY);
  for (let next = await first.next(); next.value?.type !== 'done';) next = await first.next();
  // Nobody has asked for what follows `done`.
  expect((await collect(turn('C'))).at(-1)).toMatchObject({ status: 'complete' });
});

it('R263: a reader that leaves and a turn that fails to begin free the conversation', async () => {
  await start([textReply('one', 'two'), textReply('three')]);
  for await (const event of turn('A')) if (event.type === 'chunk') break;
  await expect(
    collect(orion.runTurn({ content: 'B', conversationId: 'c', protocol: 'none' })),
  ).rejects.toMatchObject({ code: 'PROTOCOL_UNSUPPORTED' });
  expect((await collect(turn('C'))).at(-1)).toMatchObject({ status: 'complete' });
});

it('R263: the recovery of a session waits for the turn of its conversation, too', async () => {
  const begin = callsReply([
    toolCall('call-1', 'WritePlanTool_begin', {
      intent: 'test',
      target_file: 'a.txt',
      operation: 'create',
    }),
  ]);
  const cut: readonly LlmEvent[] = [
    { type: 'text-delta', text: 'one\n' },
    { type: 'error', error: { code: 'PROVIDER_AUTH', message: 'No.', retryable: false } },
  ];
  await start([begin, cut, textReply('next'), textReply('next')]);
  await collect(turn('A'));
  const sessionId = (await orion.listSessions())[0]?.session_id ?? '';
  const other = turn('B')[Symbol.asyncIterator]();
  await other.next();
  await expect(collect(orion.finalizeSession({ sessionId }))).rejects.toMatchObject(BUSY);
  await other.return?.();
  expect((await collect(orion.finalizeSession({ sessionId }))).at(-1)).toMatchObject({
    type: 'done',
    status: 'complete',
  });
});

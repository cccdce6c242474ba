import { OrionError } from '@orion/contracts';
import { createFakeClock, textReply } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { expect, it } from 'vitest';

import { doneOf, kindsOf, startTurns } from '../testing/test-turns.ts';

/** Hazard: a turn that a client was promised is not run, is run twice, or takes the server with it. */

it('runs a turn from the queue and keeps all of it in the log and in its conversation (R282)', async () => {
  const { submit, ended, orion, turns, seen } = await startTurns({
    replies: [textReply('hello'), textReply('again')],
  });
  const turnId = await submit({ metadata: { client: 'test' } });
  const events = await ended(turnId);
  expect(doneOf(events)).toMatchObject({
    requestId: turnId,
    projectId: 'p',
    status: 'complete',
    fullContent: 'hello',
  });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const { conversationId } = (await turns.service.find(turnId)) ?? {};
  // The next one without a name continues the conversation of its project (R263).
  const next = await submit();
  await ended(next);
  expect(await turns.service.find(next)).toMatchObject({ conversationId, status: 'complete' });
  const kept = await orion.store.conversations.load(conversationId ?? '');
  expect(kept).toMatchObject({ projectId: 'p', messages: 4 });
  expect(kindsOf(events)).toContain('chunk');
  expect(seen.filter(({ type }) => type === 'done')).toHaveLength(2);
});

it('saves and gives back what runs when it stops, and the next process ends it: nothing is said twice', async () => {
  let isHanging = true;
  const reply: FakeReply = async function* ({ options }) {
    yield { type: 'text-delta', text: 'one ' };
    if (isHanging)
      await new Promise((resolve) => options.signal?.addEventListener('abort', resolve));
    yield* textReply('two');
  };
  const serverClock = createFakeClock();
  const first = await startTurns({ replies: [reply], slots: 1, serverClock });
  const running = await first.submit({ conversationId: 'a' });
  const waiting = await first.submit({ conversationId: 'b' });
  const log = first.turns.service.log;
  await expect.poll(async () => kindsOf(await log.read(running, 0))).toContain('chunk');
  const stopped = first.turns.stop(0);
  await serverClock.advance(0);
  await stopped;
  expect(await first.turns.service.find(running)).toMatchObject({ state: 'queued' });
  expect(await first.turns.service.find(waiting)).toMatchObject({ state: 'queued', lastSeq: 0 });
  expect(kindsOf(await log.read(running, 0))).not.toContain('done');

  isHanging = false;
  const { store } = first.orion;
  const second = await startTurns({ root: first.root, store, replies: [reply, reply] });
  for (const turnId of [running, waiting]) {
    const events = await second.ended(turnId);
    expect(doneOf(events)).toMatchObject({ status: 'complete', fullContent: 'one two' });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  }
});

it('runs no more turns at the same time than there are slots, and the others after them', async () => {
  let most = 0;
  const test = await startTurns({
    slots: 2,
    replies: Array.from(
      { length: 6 },
      () =>
        async function* () {
          most = Math.max(most, test.adapter.open());
          await new Promise((resolve) => setTimeout(resolve, 20));
          yield* textReply('said');
        } satisfies FakeReply,
    ),
  });
  const ids = [];
  for (const conversationId of ['a', 'b', 'c', 'd', 'e', 'f'])
    ids.push(await test.submit({ conversationId }));
  for (const id of ids) await test.ended(id);
  expect(most).toBe(2);
});

it('submits again what a store did not answer, and one turn is made of it', async () => {
  const { orion, root } = await startTurns();
  const { servedTurns } = orion.store;
  let lost = 2;
  const away = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });
  const losing: typeof servedTurns = {
    ...servedTurns,
    async submit(...call) {
      const outcome = await servedTurns.submit(...call);
      if (lost === 0) return outcome;
      lost -= 1;
      throw away;
    },
  };
  const store = { ...orion.store, servedTurns: losing };
  const { turns, submit, ended } = await startTurns({ root, store, replies: [textReply('once')] });
  const turnId = await submit();
  await ended(turnId);
  expect(await turns.service.list({ limit: 9 })).toMatchObject([{ turnId }]);
  // One that never answers is the client's to repeat.
  lost = Number.POSITIVE_INFINITY;
  await expect(submit()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

import { OrionError, systemClock } from '@orion/contracts';
import type { TurnLog, TurnLogEvent } from '@orion/contracts';
import { expect, test } from 'vitest';
import { openStore } from '../open-store.ts';
import { startFaultyProxy } from '../testing/faulty-proxy.ts';
import { useTestDatabase } from '../testing/test-database.ts';

const BATCH = 3;

const own = useTestDatabase();

for (const { batches, tags } of [
  { batches: 80, tags: [] },
  { batches: 400, tags: ['long'] },
]) {
  const title = `${batches} batches over connections that break between query and answer: no event lost, none twice`;
  test(title, { timeout: 60_000, tags }, async () => {
    const turnId = `turn of ${batches}`;
    const proxy = await startFaultyProxy(own.url());
    const store = openStore({ kind: 'postgres', url: proxy.url }, { clock: systemClock });
    try {
      const { epoch } = await store.turnLog.acquire(turnId, 1);
      let unanswered = 0;
      for (let batch = 0; batch < batches; batch++) {
        const first = batch * BATCH + 1;
        const events = Array.from({ length: BATCH }, (_, index) => event(first + index));
        if (batch % 4 === 0) proxy.arm('lose-answer', 'insert into turn_event');
        if (batch % 4 === 2) proxy.arm('cut-at-once', 'insert into turn_event');
        unanswered += await appendUntilAnswered(store.turnLog, turnId, epoch, first, events);
      }
      expect(proxy.faults).toBe(batches / 2);
      expect(unanswered).toBe(proxy.faults);
      const seqs: number[] = [];
      for (let after = 0; ; after = seqs.at(-1) ?? 0) {
        const entries = await store.turnLog.read(turnId, after);
        if (entries.length === 0) break;
        for (const entry of entries) {
          expect(entry.data).toEqual(event(entry.seq).data);
          seqs.push(entry.seq);
        }
      }
      expect(seqs).toEqual(Array.from({ length: batches * BATCH }, (_, index) => index + 1));
    } finally {
      await store.close();
      await proxy.close();
    }
  });
}

test('12 acquires and 12 ends of turns whose answers are lost: one owner each, one end, one conversation', async () => {
  const proxy = await startFaultyProxy(own.url());
  const store = openStore({ kind: 'postgres', url: proxy.url }, { clock: systemClock });
  const { turnLog, conversations } = store;
  /** Repeated as it is until the outcome is known. */
  const untilAnswered = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!OrionError.isInstance(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
        expect(error.retryable).toBe(true);
      }
    }
  };
  try {
    await turnLog.epochOf('none');
    for (let turn = 0; turn < 12; turn += 1) {
      const turnId = `end-${turn}`;
      const fault = turn % 2 === 0 ? 'lose-answer' : 'cut-at-once';
      const first = await turnLog.acquire(turnId, 1);
      // One that is cut on its way may arrive after its repeat, and is then the newer owner.
      proxy.arm('lose-answer', 'insert into turn ');
      const { epoch } = await untilAnswered(() => turnLog.acquire(turnId, 1));
      const append = { turnId, epoch, expectSeq: 1, events: [{ ...event(1), kind: 'done' }] };
      const save = {
        conversationId: turnId,
        projectId: 'p',
        history: [{ role: 'user', content: turnId }] as const,
        from: 0,
        openSessionId: null,
        revision: 0,
      };
      expect(await turnLog.finish({ ...append, epoch: first.epoch }, save)).toEqual({
        kind: 'fenced',
      });
      proxy.arm(fault, 'commit');
      expect(await untilAnswered(() => turnLog.finish(append, save))).toMatchObject({
        kind: 'stored',
        lastSeq: 1,
      });
      expect(await turnLog.read(turnId, 0)).toHaveLength(1);
      expect(await conversations.load(turnId)).toMatchObject({ revision: 1, messages: 1 });
    }
    expect(proxy.faults).toBe(24);
  } finally {
    await store.close();
    await proxy.close();
  }
}, 60_000);

function event(seq: number): TurnLogEvent {
  return { seq, kind: 'chunk', data: { text: `text ${seq}` } };
}

/** How often nothing was known of the outcome. */
async function appendUntilAnswered(
  log: TurnLog,
  turnId: string,
  epoch: number,
  first: number,
  events: readonly TurnLogEvent[],
): Promise<number> {
  for (let unanswered = 0; ; unanswered++) {
    try {
      expect(await log.append(turnId, epoch, first, events)).toBe(first + events.length - 1);
      return unanswered;
    } catch (error) {
      if (!OrionError.isInstance(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
      expect(error.retryable).toBe(true);
    }
  }
}

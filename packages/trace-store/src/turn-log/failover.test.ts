// @module-tag long
import { OrionError, systemClock } from '@orion/contracts';
import { startMovableAddress, startPostgres } from '@orion/testkit/postgres';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../open-store.ts';

/**
 * Hazard: the primary dies and a standby takes its place behind the same address, without what it had not received.
 */

const EVENTS = 30;
const HELD_FROM = 10;
const KILLED_AT = 20;

/** Stores events one by one and fails over in between. @returns what the reader has seen, and how the writer ended */
async function failOver(isSynchronous: boolean) {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const standby = await primary.startStandby({ isSynchronous });
  const address = await startMovableAddress(primary.port);
  onTestFinished(() => address.close());
  const url = new URL(primary.url);
  url.port = String(address.port);
  const store = openStore({ kind: 'postgres', url: url.href }, { clock: systemClock });
  onTestFinished(() => store.close());
  const { turnLog } = store;
  const seen: (number | 'reset')[] = [];
  const until = async (seq: number): Promise<void> => {
    while (seen.at(-1) !== seq) await new Promise((settle) => setTimeout(settle, 5));
  };
  const leave = new AbortController();
  const append = async (epoch: number, from: number, to: number): Promise<void> => {
    for (let seq = from; seq <= to;) {
      const kind = seq === EVENTS ? 'done' : 'chunk';
      try {
        await turnLog.append('turn', epoch, seq, [{ seq, kind, data: null }]);
        seq += 1;
      } catch (error) {
        if (!OrionError.isInstance(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
      }
    }
  };
  const { epoch } = await turnLog.acquire('turn', 1);
  const reading = (async () => {
    const after = { seq: 0, epoch: null };
    for await (const news of turnLog.follow([{ turnId: 'turn', after }], leave.signal))
      seen.push(news.kind === 'reset' ? 'reset' : news.entry.seq);
  })();
  await append(epoch, 1, HELD_FROM);
  await until(HELD_FROM);
  if (!isSynchronous) standby.holdBack();
  await append(epoch, HELD_FROM + 1, KILLED_AT);
  await until(KILLED_AT);
  await primary.kill();
  await standby.promote();
  address.moveTo(standby.port);
  return { store, seen, reading, epoch, append };
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('the right to serve is not taken at a standby, where it would say nothing about the primary', async () => {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const store = openStore({ kind: 'postgres', url: primary.url }, { clock: systemClock });
  onTestFinished(() => store.close());
  await store.tryWrite();
  const standby = await primary.startStandby({ isSynchronous: false });
  const url = new URL(primary.url);
  url.port = String(standby.port);
  const behind = openStore({ kind: 'postgres', url: url.href }, { clock: systemClock });
  onTestFinished(() => behind.close());
  await expect(behind.holdServing({ sharedBy: 'x' })).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('standby') as string,
  });
});

test('a synchronous standby has everything: the writer and the reader go on where they were (R288)', async () => {
  const { seen, reading, epoch, append } = await failOver(true);
  await append(epoch, KILLED_AT + 1, EVENTS);
  await reading;
  expect(seen).toEqual(numbers(1, EVENTS));
});

test('an asynchronous standby that was behind: the writer is told of the gap, the reader gets a reset and then one whole history', async () => {
  const { store, seen, reading, epoch, append } = await failOver(false);
  await expect(append(epoch, KILLED_AT + 1, EVENTS)).rejects.toMatchObject({
    code: 'TURN_LOG_GAP',
  });
  const next = await store.turnLog.acquire('turn', 2);
  expect(next.lastSeq).toBe(HELD_FROM);
  await append(next.epoch, HELD_FROM + 1, EVENTS);
  await reading;
  expect(seen).toEqual([...numbers(1, KILLED_AT), 'reset', ...numbers(1, EVENTS)]);
});

import { systemClock } from '@orion/contracts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import { migrate } from '../migrations/migrate.ts';
import { startFaultyProxy } from '../testing/faulty-proxy.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

const BATCH = 5;

const own = useTestDatabase();

/** So that nothing waits for the pauses between two attempts. */
const hastyClock = {
  ...systemClock,
  schedule: (milliseconds: number, callback: () => void) =>
    systemClock.schedule(milliseconds === 100 ? 1 : milliseconds, callback),
};

for (const { batches, tags } of [
  { batches: 80, tags: [] },
  { batches: 400, tags: ['long'] },
]) {
  const title = `${batches} batches over connections that break between query and answer: every event once, in its order`;
  test(title, { timeout: 60_000, tags }, async () => {
    const requestId = `turn of ${batches}`;
    const proxy = await startFaultyProxy(own.url());
    const database = await openPostgres(proxy.url);
    await migrate(database);
    const store = createSqlTraceStore(database, { clock: hastyClock, createId: randomUUID });
    try {
      for (let batch = 0; batch < batches; batch++) {
        if (batch % 3 !== 2) {
          proxy.arm(batch % 3 === 0 ? 'lose-answer' : 'cut-at-once', 'insert into trace_event');
        }
        for (let index = 0; index < BATCH; index++) {
          store.record({ type: 'step', requestId, cycleIndex: batch * BATCH + index });
        }
        await store.flush();
      }
      expect(proxy.faults).toBe(Math.ceil((batches * 2) / 3));
      const events = await store.getTrace(requestId);
      expect(events.map((event) => event.cycleIndex)).toEqual(
        Array.from({ length: batches * BATCH }, (_, index) => index),
      );
      expect(store.dropped()).toBe(0);
    } finally {
      await store.close();
      await database.close();
      await proxy.close();
    }
  });
}

test('a server that is gone for a while has every event afterwards', async () => {
  const proxy = await startFaultyProxy(own.url());
  const database = await openPostgres(proxy.url);
  await migrate(database);
  const store = createSqlTraceStore(database, { clock: systemClock, createId: randomUUID });
  try {
    store.record({ type: 'step', requestId: 'gone', cycleIndex: 0 });
    await store.flush();
    proxy.setOpen(false);
    for (let index = 1; index < 500; index++) {
      store.record({ type: 'step', requestId: 'gone', cycleIndex: index });
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 150);
    });
    proxy.setOpen(true);
    await store.flush();
    const events = await store.getTrace('gone');
    expect(events.map((event) => event.cycleIndex)).toEqual([...Array(500).keys()]);
    expect(store.dropped()).toBe(0);
  } finally {
    await store.close();
    await database.close();
    await proxy.close();
  }
}, 30_000);

import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createSqlTraceStore } from './sql-trace-store.ts';
import type { SqlTraceStoreOptions } from './sql-trace-store.ts';
import { away, createScriptedDatabase, hang } from './testing/scripted-database.ts';

function setUp(options: Partial<SqlTraceStoreOptions> = {}) {
  const clock = createFakeClock();
  const database = createScriptedDatabase();
  const reasons: string[] = [];
  const store = createSqlTraceStore(database, {
    clock,
    createId: () => 'w',
    onFirstDrop: (reason) => reasons.push(reason),
    ...options,
  });
  return { clock, database, store, reasons };
}

test('while the database hangs the queue is bounded, drops are counted, and nothing more is asked of it', async () => {
  const { clock, database, store, reasons } = setUp({ maxQueuedEvents: 500 });
  database.behave = hang;
  let looked = 0;
  const details = {
    get value() {
      looked += 1;
      return 'x';
    },
  };
  for (let round = 0; round < 100; round++) {
    for (let index = 0; index < 100; index++) store.record('step', details);
    await clock.advance(1_000);
  }
  expect(database.attempts).toEqual([100]);
  expect(store.dropped()).toBe(10_000 - 500);
  expect(reasons).toHaveLength(1);
  // An event that is not kept costs nothing: its value is not even looked at.
  expect(looked).toBe(500);
});

test('close ends by its deadline when the database hangs, and counts what it leaves behind', async () => {
  const { clock, database, store } = setUp();
  database.behave = hang;
  for (let index = 0; index < 250; index++) store.record('step');
  let closed = false;
  const closing = store.close().then(() => {
    closed = true;
  });
  await clock.advance(999);
  expect(closed).toBe(false);
  await clock.advance(1);
  expect(closed).toBe(true);
  await closing;
  expect(store.dropped()).toBe(250);
  expect(clock.pending()).toBe(0);
  store.record('late');
  expect(store.dropped()).toBe(251);
  await store.close();
});

test('flush ends by its deadline, and what it waited for is stored when the database is back', async () => {
  const { clock, database, store } = setUp();
  database.behave = away;
  store.record({ type: 'step', summary: 'kept' });
  let flushed = false;
  const flushing = store.flush().then(() => {
    flushed = true;
  });
  await clock.advance(4_999);
  expect(flushed).toBe(false);
  await clock.advance(1);
  await flushing;
  expect(database.stored).toEqual([]);
  database.behave = () => undefined;
  await clock.advance(5_000);
  expect(database.stored).toEqual(['kept']);
  expect(store.dropped()).toBe(0);
  await store.close();
});

test('a database that is away is asked later and later, and no row is lost that fitted', async () => {
  const { clock, database, store } = setUp({ maxQueuedEvents: 300 });
  database.behave = away;
  for (let index = 0; index < 400; index++) store.record({ type: 'step', summary: `${index}` });
  await clock.advance(60_000);
  // 100 ms, doubled up to 5 s.
  expect(database.attempts.length).toBeLessThan(20);
  // What comes meanwhile makes nothing sooner.
  const attempts = database.attempts.length;
  for (let index = 0; index < 200; index++) store.record('step');
  await clock.advance(100);
  expect(database.attempts.length).toBe(attempts);
  database.behave = () => undefined;
  await clock.advance(5_000);
  expect(database.stored).toEqual(Array.from({ length: 300 }, (_, index) => `${index}`));
  expect(store.dropped()).toBe(300);
  store.record({ type: 'step', summary: 'after' });
  await clock.advance(100);
  expect(database.stored.at(-1)).toBe('after');
  await store.close();
});

test('the pauses between two attempts are 100 ms and twice as much each time, up to 5 s', async () => {
  const { clock, database, store } = setUp();
  database.behave = away;
  store.record('step');
  let attempts = 0;
  for (const pause of [100, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) {
    await clock.advance(pause - 1);
    expect(database.attempts).toHaveLength(attempts);
    await clock.advance(1);
    attempts += 1;
    expect(database.attempts).toHaveLength(attempts);
  }
  // Once it was there it is asked soon again.
  database.behave = () => undefined;
  await clock.advance(5_000);
  database.behave = away;
  store.record('step');
  await clock.advance(100);
  attempts = database.attempts.length;
  await clock.advance(100);
  expect(database.attempts).toHaveLength(attempts + 1);
});

test('close asks a database that is away once more and waits no longer', async () => {
  const { clock, database, store } = setUp();
  database.behave = away;
  for (let index = 0; index < 10; index++) store.record('step');
  await clock.advance(1_000);
  const before = database.attempts.length;
  // The clock stands still: only an answer can end this.
  await store.close();
  expect(database.attempts.length).toBe(before + 1);
  expect(store.dropped()).toBe(10);
  expect(clock.pending()).toBe(0);
});

test('10,000 events wait at most, and 32 MiB of them', () => {
  const many = setUp();
  many.database.behave = hang;
  for (let index = 0; index < 10_000; index++) many.store.record('step');
  expect(many.store.dropped()).toBe(0);
  many.store.record('step');
  expect(many.store.dropped()).toBe(1);
  // Of this size 999 fit, and with 32 KiB more it would be one more.
  const large = setUp();
  large.database.behave = hang;
  for (let index = 0; index < 1_100; index++) large.store.record('step', 'x'.repeat(16_526));
  expect(large.store.dropped()).toBe(1_100 - 999);
});

test('the queue is bounded in bytes too', () => {
  const { database, store } = setUp({ maxQueuedBytes: 1_000_000 });
  database.behave = hang;
  for (let index = 0; index < 1_000; index++) store.record('step', 'x'.repeat(10_000));
  expect(store.dropped()).toBeGreaterThan(940);
  expect(store.dropped()).toBeLessThan(960);
});

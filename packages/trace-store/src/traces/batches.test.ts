import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createSqlTraceStore } from './sql-trace-store.ts';
import { createScriptedDatabase } from './testing/scripted-database.ts';

function setUp() {
  const clock = createFakeClock();
  const database = createScriptedDatabase();
  const store = createSqlTraceStore(database, { clock, createId: () => 'w' });
  return { clock, database, store };
}

test('recording touches no database; events wait 100 ms for others', async () => {
  const { clock, database, store } = setUp();
  store.record('step');
  expect(database.attempts).toEqual([]);
  await clock.advance(99);
  expect(database.attempts).toEqual([]);
  await clock.advance(1);
  expect(database.attempts).toEqual([1]);
  expect(clock.pending()).toBe(0);
  await store.close();
});

test('1,000 events are 10 inserts, in their order', async () => {
  const { database, store } = setUp();
  for (let index = 0; index < 1_000; index++) store.record({ type: 'step', summary: `${index}` });
  await store.flush();
  expect(database.attempts).toEqual(Array.from({ length: 10 }, () => 100));
  expect(database.stored).toEqual(Array.from({ length: 1_000 }, (_, index) => `${index}`));
  await store.close();
});

test('a full batch goes without waiting, and the rest of it when its time has come', async () => {
  const { clock, database, store } = setUp();
  for (let index = 0; index < 130; index++) store.record('step');
  await clock.advance(0);
  expect(database.attempts).toEqual([100]);
  await clock.advance(100);
  expect(database.attempts).toEqual([100, 30]);
  await store.close();
});

test('flush waits for what was recorded before it, not for what comes meanwhile', async () => {
  const { database, store } = setUp();
  database.behave = () => {
    // Somebody who never stops.
    if (database.attempts.length < 1_000) store.record('more');
  };
  store.record('first');
  await store.flush();
  expect(database.attempts.length).toBeLessThan(10);
  database.behave = () => undefined;
  await store.close();
  expect(store.dropped()).toBe(0);
});

test('an event does not change with the object that it was made of', async () => {
  const { database, store } = setUp();
  const event = { type: 'step', summary: 'before' };
  store.record(event);
  event.summary = 'after';
  await store.flush();
  expect(database.stored).toEqual(['before']);
  await store.close();
});

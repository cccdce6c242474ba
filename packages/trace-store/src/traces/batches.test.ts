import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createSqlTraceStore } from './sql-trace-store.ts';
import { createScriptedDatabase, hang } from './testing/scripted-database.ts';

function setUp() {
  const clock = createFakeClock();
  const database = createScriptedDatabase();
  const reasons: string[] = [];
  const store = createSqlTraceStore(database, {
    clock,
    createId: () => 'w',
    onFirstDrop: (reason) => reasons.push(reason),
  });
  return { clock, database, store, reasons };
}

test('recording touches no database; events wait 100 ms for others', async () => {
  const { clock, database, store, reasons } = setUp();
  store.record('step');
  expect(database.attempts).toEqual([]);
  await clock.advance(99);
  expect(database.attempts).toEqual([]);
  await clock.advance(1);
  expect(database.attempts).toEqual([1]);
  expect(clock.pending()).toBe(0);
  await store.close();
  // Nothing was dropped, and nobody was told of it.
  expect([store.dropped(), reasons]).toEqual([0, []]);
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
  // Nor does the rest of one go at once that comes after everything was to go.
  store.record('step');
  await store.flush();
  for (let index = 0; index < 110; index++) store.record('step');
  await clock.advance(99);
  expect(database.attempts).toEqual([100, 30, 1, 100]);
  await clock.advance(1);
  expect(database.attempts).toEqual([100, 30, 1, 100, 10]);
  await store.close();
});

test('who closes waits for the database alone, whether or not it could be cut off', async () => {
  for (const cut of [undefined, new AbortController().signal]) {
    const { clock, database, store } = setUp();
    store.record({ type: 'step', summary: 'last' });
    // The clock stands still: no deadline ends this.
    await store.close(cut);
    expect([database.stored, store.dropped(), clock.pending()]).toEqual([['last'], 0, 0]);
  }
});

test('who closes and cuts waits for nothing', async () => {
  const { database, store } = setUp();
  database.behave = hang;
  store.record('step');
  const cut = new AbortController();
  const closing = store.close(cut.signal);
  cut.abort();
  await closing;
  expect(store.dropped()).toBe(1);
});

test('an observer that throws is the store’s own affair, unless it is strict', async () => {
  for (const strict of [false, true]) {
    const database = createScriptedDatabase();
    const onEvent = (): void => {
      throw new Error('observer');
    };
    const store = createSqlTraceStore(database, {
      clock: createFakeClock(),
      createId: () => 'w',
      strict,
      onEvent,
    });
    const record = (): void => {
      store.record({ type: 'step', summary: 'kept' });
    };
    if (strict) expect(record).toThrow('observer');
    else record();
    await store.close();
    expect(database.stored).toEqual(['kept']);
  }
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

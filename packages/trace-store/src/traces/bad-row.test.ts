import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { SqlRefusedError } from '../engine/sql-database.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';
import { away, createScriptedDatabase } from './testing/scripted-database.ts';

const names = (count: number, bad: readonly number[] = []): string[] =>
  Array.from({ length: count }, (_, index) => (bad.includes(index) ? `bad ${index}` : `${index}`));

function setUp(strict = false) {
  const database = createScriptedDatabase();
  const reasons: string[] = [];
  const clock = createFakeClock();
  const store = createSqlTraceStore(database, {
    clock,
    createId: () => 'w',
    strict,
    onFirstDrop: (reason) => reasons.push(reason),
  });
  database.behave = (summaries) => {
    const bad = summaries.find((summary) => summary.startsWith('bad'));
    if (bad !== undefined) throw new SqlRefusedError('22P05', `cannot take ${bad}`);
  };
  return { database, store, reasons, clock };
}

test('a row that the database refuses is counted, and no other row of its batch is lost (B24)', async () => {
  for (const bad of [[0], [99], [50], [0, 1, 98, 99], [...Array(100).keys()]]) {
    const { database, store, reasons } = setUp();
    const summaries = names(100, bad);
    for (const summary of summaries) store.record({ type: 'step', summary });
    await store.flush();
    expect(database.stored).toEqual(summaries.filter((summary) => !summary.startsWith('bad')));
    expect(store.dropped()).toBe(bad.length);
    expect(reasons).toEqual([expect.stringContaining(`bad ${bad[0]}`)]);
    // One insert for all, and one for each row after it.
    expect(database.attempts.slice(0, 2)).toEqual([100, 1]);
    await store.close();
  }
});

test('a database that goes away in the middle of a refused batch gets the rest of it later', async () => {
  const { database, store, clock } = setUp();
  const summaries = names(100, [40]);
  const refuse = database.behave;
  let calls = 0;
  database.behave = (rows) => {
    calls += 1;
    if (calls === 30) away();
    return refuse(rows);
  };
  for (const summary of summaries) store.record({ type: 'step', summary });
  await clock.advance(10_000);
  expect(database.stored).toEqual(summaries.filter((summary) => summary !== 'bad 40'));
  expect(store.dropped()).toBe(1);
  await store.close();
});

test('what is no error of a database is the rows own matter too, and ends nothing', async () => {
  const { database, store } = setUp();
  database.behave = (summaries) => {
    if (summaries.includes('bad')) throw new TypeError('a defect');
  };
  for (const summary of ['a', 'bad', 'b']) store.record({ type: 'step', summary });
  await store.flush();
  expect(database.stored).toEqual(['a', 'b']);
  expect(store.dropped()).toBe(1);
  await store.close();
});

test('strict makes a refused row fatal: flush rejects, and so does the next record (R228)', async () => {
  const { store } = setUp(true);
  store.record({ type: 'step', summary: 'bad' });
  await expect(store.flush()).rejects.toThrow('cannot take bad');
  store.record({ type: 'step', summary: 'bad again' });
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  await expect(store.close()).rejects.toThrow('cannot take bad again');
});

test('a batch that is refused after the end is not tried row by row, nor counted twice', async () => {
  const { clock, database, store } = setUp();
  const answer = Promise.withResolvers<void>();
  database.behave = () => answer.promise;
  for (const summary of ['a', 'b']) store.record({ type: 'step', summary });
  const closing = store.close();
  await clock.advance(1_000);
  await closing;
  expect(store.dropped()).toBe(2);
  answer.reject(new SqlRefusedError('22P05', 'too late'));
  await clock.advance(60_000);
  expect(database.attempts).toEqual([2]);
  expect(store.dropped()).toBe(2);
});

test('strict makes the event after a refused row fatal, once, also when nobody flushed', async () => {
  const { clock, database, store } = setUp(true);
  store.record({ type: 'step', summary: 'bad' });
  await clock.advance(100);
  expect(() => {
    store.record({ type: 'step', summary: 'after' });
  }).toThrow('cannot take bad');
  store.record({ type: 'step', summary: 'later' });
  await store.close();
  expect(database.stored).toEqual(['later']);
  expect(store.dropped()).toBe(2);
});

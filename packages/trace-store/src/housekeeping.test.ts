import { setImmediate } from 'node:timers/promises';
import { createFakeClock } from '@orion/testkit';
import { expect, test, vi } from 'vitest';
import { SqlRefusedError } from './engine/sql-database.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { openSqlite } from './engine/sqlite.ts';
import { createMemoryTraceStore } from './memory/memory-trace-store.ts';
import { migrate } from './migrations/migrate.ts';
import { storeOver } from './store-over.ts';

/** Hazard: something that cannot be removed keeps everything else for ever, and nobody learns of it. */

const TABLES = ['turn_event', 'tool_output_text', 'request_key'];
/** Of 1970. */
const OLD_ROWS = [
  "insert into turn (turn_no, turn_id, epoch, last_seq, active_at) values (1, 'old', 1, 1, 0)",
  "insert into turn_event values (1, 1, 0, 1, 'chunk', 'null')",
  "insert into tool_output values ('o', 'p', 't', 'c', 'm', 0, 1, 1, 1, 1, 0, '1', null)",
  "insert into tool_output_text values ('o', '{}', '1')",
  "insert into request_key values ('p', 'k', '/r', 'aa', 'made', 0)",
];

test.each(TABLES)(
  'rows of %s cannot be removed: the others are, and the failure is in the trace',
  async (broken) => {
    const clock = createFakeClock(Date.now());
    const database = await openSqlite(':memory:');
    await migrate(database);
    for (const row of OLD_ROWS) await database.run(row);
    await database.run(
      `create trigger broken before delete on ${broken} begin select raise(abort, 'broken'); end`,
    );
    const store = storeOver(database, { clock, traces: createMemoryTraceStore({ clock }) });
    await store.turnLog.acquire('now', 1);
    const left = `select 'turn_event' as name from turn_event
      union select 'tool_output_text' from tool_output_text
      union select 'request_key' from request_key`;
    await vi.waitFor(async () => {
      expect(await database.all(left)).toEqual([{ name: broken }]);
    });
    await store.close();
    expect(await store.traces.query({ type: 'housekeeping_failed' })).toMatchObject([
      { source: 'trace-store', error: { message: expect.stringContaining('broken') as string } },
    ]);
  },
);

test('a user of the database who may not remove something has not failed', async () => {
  const clock = createFakeClock(Date.now());
  const database = await openSqlite(':memory:');
  await migrate(database);
  for (const row of OLD_ROWS) await database.run(row);
  const limited: SqlDatabase = {
    ...database,
    run: (sql, parameters) =>
      sql.includes('delete from trace_event')
        ? Promise.reject(new SqlRefusedError('42501', 'permission denied'))
        : database.run(sql, parameters),
  };
  const store = storeOver(limited, { clock, traces: createMemoryTraceStore({ clock }) });
  await store.turnLog.acquire('now', 1);
  const keys = (): Promise<readonly unknown[]> => database.all('select 1 from request_key');
  await vi.waitFor(async () => expect(await keys()).toEqual([]));
  await store.close();
  expect(await store.traces.query({ type: 'housekeeping_failed' })).toEqual([]);
});

test('what the end of the process interrupts is no failure, and no trace is lost with it', async () => {
  const clock = createFakeClock(Date.now());
  const database = await openSqlite(':memory:');
  await migrate(database);
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<never>();
  const slow: SqlDatabase = {
    ...database,
    all: (sql, parameters) => {
      if (!sql.includes('select turn_no from turn')) return database.all(sql, parameters);
      asked.resolve();
      return answer.promise;
    },
  };
  const traces = createMemoryTraceStore({ clock });
  const store = storeOver(slow, { clock, traces });
  await store.turnLog.acquire('now', 1);
  await asked.promise;
  await store.close(AbortSignal.abort());
  answer.reject(new Error('The store is closed'));
  await setImmediate();
  expect(traces.dropped()).toBe(0);
  expect(await traces.query({})).toEqual([]);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { storeUnavailable } from '../engine/sql-database.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';

/** Hazard: a start waits without a word and without end for a table that somebody else has open. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A Postgres whose steps meet a table that is in use, as often as `isInUse` says so. */
function databaseInUse(isInUse: (tries: number) => boolean): SqlDatabase & { tries: number } {
  const database = {
    tries: 0,
    dialect: 'postgres',
    all: () =>
      Promise.resolve([{ version: MIGRATIONS.length - (isInUse(database.tries) ? 1 : 0) }]),
    async transaction() {
      database.tries += 1;
      if (isInUse(database.tries))
        throw storeUnavailable('canceling statement', { reason: '55P03', retryable: true });
    },
  };
  return database as unknown as SqlDatabase & { tries: number };
}

test('a step is tried for a minute, and then says what to do', async () => {
  const database = databaseInUse(() => true);
  const outcome = migrate(database, MIGRATIONS.slice(-1)).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(database.tries).toBe(14);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await outcome).toMatchObject({
    code: 'STORE_IN_USE',
    hint: expect.stringContaining('pg_stat_activity') as string,
  });
});

test('a step is taken as soon as its table is free', async () => {
  const database = databaseInUse((tries) => tries < 3);
  const outcome = migrate(database, MIGRATIONS.slice(-1));
  await vi.advanceTimersByTimeAsync(6_000);
  await outcome;
  expect(database.tries).toBe(3);
});

import { createFakeClock } from '@orion/testkit';
import { describe, expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import { databaseNow } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlValue } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { ageTurns } from '../testing/age-turns.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlTurnLog } from './sql-turn-log.ts';

/** Hazard: looking for old turns reads all young ones, until a store has so many that it never ends in time. */

const own = useTestDatabase();
const engines: readonly (readonly [string, () => Promise<SqlDatabase>])[] = [
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', () => openPostgres(own.url())],
];
const IDLE_MS = 60_000;
const YOUNG = 20_000;

type Statement = readonly [sql: string, parameters: readonly SqlValue[]];

/** What a fold asks first. */
async function searchOf(database: SqlDatabase): Promise<Statement> {
  const asked: Statement[] = [];
  const watched: SqlDatabase = {
    ...database,
    all: (sql, parameters = []) => {
      asked.push([sql, parameters]);
      return database.all(sql, parameters);
    },
  };
  expect(await createSqlTurnLog(watched, { clock: createFakeClock() }).foldOldTurns(IDLE_MS)).toBe(
    0,
  );
  return asked[0] ?? ['', []];
}

/** Turns that are over, those that a command runs, and those that wait in a queue. */
async function addYoungTurns(database: SqlDatabase): Promise<void> {
  const now = databaseNow(database.dialect);
  await database.run(
    `with recursive number (n) as (select 1 union all select n + 1 from number where n < ${YOUNG})
     insert into turn (turn_id, epoch, last_seq, active_at, created_at, finished_at, state)
     select 'young ' || n, 1, 0, ${now}, ${now}, case when n % 3 = 0 then ${now} end,
       case when n % 3 < 2 then 1 end
     from number`,
  );
}

describe.each(engines)('%s', (_, open) => {
  test('a fold reads turns that are old, and no others', async () => {
    const database = await open();
    await migrate(database);
    await addYoungTurns(database);
    const log = createSqlTurnLog(database, { clock: createFakeClock() });
    await log.acquire('begun', 1);
    // It lives long: it began before, and still does something.
    const { epoch } = await log.acquire('long', 1);
    await ageTurns(database, 2 * IDLE_MS, 'long');
    await log.append('long', epoch, 1, [{ seq: 1, kind: 'chunk', data: null }]);

    const [sql, parameters] = await searchOf(database);
    if (database.dialect === 'sqlite') {
      const plan = await database.all(`explain query plan ${sql}`, parameters);
      expect(plan.map(({ detail }) => detail)).toEqual([
        'SEARCH turn USING INDEX turn_to_fold (<expr><?)',
      ]);
    } else {
      await database.run('analyze turn');
      const rows = await database.all(`explain (analyze, buffers) ${sql}`, parameters);
      const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n');
      expect(plan).toContain('Index Scan using turn_to_fold');
      // The one that lives long.
      expect(plan).toContain('Rows Removed by Filter: 1\n');
      const pages = [...(plan.split('Planning:')[0] ?? plan).matchAll(/(?:hit|read)=(\d+)/gu)].map(
        ([, count]) => Number(count),
      );
      expect(Math.max(...pages)).toBeLessThan(10);
    }
    await ageTurns(database, 2 * IDLE_MS);
    expect(await log.foldOldTurns(IDLE_MS, 10)).toBe(10);
    await database.close();
  });
});

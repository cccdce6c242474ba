import { describe, expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase, SqlValue } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlServedTurns } from './sql-served-turns.ts';

/** Hazard: each second every turn is read that was ever served, to find those whose end was asked for. */

const own = useTestDatabase();
const engines: readonly (readonly [string, () => Promise<SqlDatabase>])[] = [
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', () => openPostgres(own.url())],
];
const SERVED = 20_000;

describe.each(engines)('%s', (_, open) => {
  test('the look for cancelled turns reads no other ones', async () => {
    const database = await open();
    await migrate(database);
    await database.run(
      `with recursive number (n) as (select 1 union all select n + 1 from number where n < ${SERVED})
       insert into turn (turn_id, epoch, last_seq, active_at, created_at, finished_at, state)
       select 'served ' || n, 1, 0, 0, 0, case when n % 3 < 2 then 0 end, 1 from number`,
    );
    const asked: [sql: string, parameters: readonly SqlValue[]][] = [];
    const watched: SqlDatabase = {
      ...database,
      all: (sql, parameters = []) => {
        asked.push([sql, parameters]);
        return database.all(sql, parameters);
      },
    };
    const turns = createSqlServedTurns(watched, { onAppend: () => undefined });
    expect(await turns.overdue(0)).toEqual([]);
    const [sql, parameters] = asked[0] ?? ['', []];
    const isSqlite = database.dialect === 'sqlite';
    if (!isSqlite) await database.run('analyze turn');
    const explain = isSqlite ? 'explain query plan' : 'explain';
    const rows = await database.all(`${explain} ${sql}`, parameters);
    expect(rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n')).toMatch(
      /SCAN turn USING INDEX turn_cancelled|Index Scan using turn_cancelled/u,
    );
    await database.close();
  });
});

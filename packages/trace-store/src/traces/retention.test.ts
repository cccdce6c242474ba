import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { pruneTraces } from './prune-traces.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

const own = useTestDatabase();
const EVENTS = 2_500;

const engines: readonly (readonly [string, () => Promise<SqlDatabase>])[] = [
  ['sqlite', () => openSqlite(':memory:')],
  ['postgres', () => openPostgres(own.url())],
];

test.each(engines)('%s keeps the newest, by age and by size', async (_, open) => {
  const database = await open();
  try {
    await migrate(database);
    const store = createSqlTraceStore(database, {
      clock: createFakeClock(),
      createId: () => 'w',
      strict: true,
    });
    for (let index = 0; index < EVENTS; index++) {
      store.record({ type: 'step', cycleIndex: index, timestamp: index, details: 'x'.repeat(698) });
    }
    await store.flush();
    const kept = async (): Promise<number[]> =>
      (await store.query({})).map((event) => event.cycleIndex ?? -1);

    expect(await pruneTraces(database, {})).toBe(0);
    expect(await pruneTraces(database, { before: 1_200 })).toBe(1_200);
    expect((await kept())[0]).toBe(1_200);
    expect(await pruneTraces(database, { before: 1_200, maxBytes: 1e12 })).toBe(0);

    const fits = await fitting(database, 500_000);
    const removed = await pruneTraces(database, { maxBytes: 500_000 });
    const left = await kept();
    expect(removed).toBe(EVENTS - 1_200 - left.length);
    expect(left.at(-1)).toBe(EVENTS - 1);
    expect(left).toEqual([...left.keys()].map((index) => EVENTS - left.length + index));
    // 700 bytes of text and about 300 around it, and on Postgres as much again for queries.
    expect(left.length).toBe(fits);
    expect(left.length).toBeGreaterThan(200);
    expect(left.length).toBeLessThanOrEqual(500);
    await store.close();
  } finally {
    await database.close();
  }
});

test('no statement adds up the sizes of many events', async () => {
  const database = await openPostgres(own.url());
  try {
    await migrate(database);
    await database.run('truncate trace_event');
    await database.run(`insert into trace_event (type, timestamp, raw, truncated)
      select 'step', n, repeat('x', 100), 0 from generate_series(1, 12000) as n`);
    await database.run('analyze trace_event');
    const visited: number[] = [];
    const watched: SqlDatabase = {
      ...database,
      async all(sql, parameters) {
        if (sql.includes('from trace_event')) {
          const [plan] = await database.all(`explain (analyze, format json) ${sql}`, parameters);
          for (const [, rows] of JSON.stringify(plan).matchAll(/Actual Rows[\\":\s]+([\d.]+)/gu))
            visited.push(Number(rows));
        }
        return database.all(sql, parameters);
      },
    };
    expect(await pruneTraces(watched, { maxBytes: 6_000 * 400 })).toBe(6_000);
    expect(Math.max(...visited)).toBe(5_000);
  } finally {
    await database.close();
  }
});

/** How many of the newest events take at most so many bytes: their text, what is queried, and 300 for each. */
async function fitting(database: SqlDatabase, maxBytes: number): Promise<number> {
  const body = database.dialect === 'postgres' ? 'pg_column_size(body)' : 'octet_length(body)';
  const rows = await database.all(
    `select octet_length(raw) as raw, ${body} as body from trace_event order by id desc`,
  );
  let bytes = 0;
  const beyond = rows.findIndex((row) => {
    bytes += Number(row['raw']) + Number(row['body'] ?? 0) + 300;
    return bytes > maxBytes;
  });
  return beyond === -1 ? rows.length : beyond;
}

import { createFakeClock } from '@orion/testkit';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlTurnLog } from './sql-turn-log.ts';

/** Hazard: one turn keeps the others of its process from being stored. */

const own = useTestDatabase();
const clock = createFakeClock();
const stored = { kind: 'stored', lastSeq: 1, cancelRequested: false } as const;

test.each([
  [
    'SQLite',
    async (): Promise<SqlDatabase> => {
      const database = await openSqlite(':memory:');
      await migrate(database);
      // SQLite keeps any text, so that something has to refuse it.
      await database.run(
        `create trigger refuse before insert on turn_event when instr(new.kind, char(0)) > 0
         begin select raise(abort, 'refused'); end`,
      );
      return database;
    },
  ],
  [
    'Postgres',
    async (): Promise<SqlDatabase> => {
      const database = await openPostgres(own.url());
      await migrate(database);
      return database;
    },
  ],
])('%s: what is refused of one turn is stored of the others', async (_, open) => {
  const database = await open();
  const log = createSqlTurnLog(database, { clock });
  const claims = await Promise.all(['a', 'bad', 'c'].map((turnId) => log.acquire(turnId, 1)));
  const appends = claims.map((claim) => ({
    ...claim,
    expectSeq: 1,
    events: [{ seq: 1, kind: claim.turnId === 'bad' ? 'a\u0000b' : 'chunk', data: null }],
  }));
  expect(await log.appendAll(appends)).toEqual([
    stored,
    { kind: 'refused', message: expect.stringContaining('refused') as string },
    stored,
  ]);
  await expect(
    log.append('bad', claims[1]?.epoch ?? 0, 1, appends[1]?.events ?? []),
  ).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: false });
  expect(await log.read('bad', 0)).toEqual([]);
  await database.close();
});

test('Postgres: two that lock each other out: the turns are stored one by one', async () => {
  const database = await openPostgres(own.url());
  await migrate(database);
  const log = createSqlTurnLog(database, { clock });
  const claims = [await log.acquire('first', 1), await log.acquire('second', 1)];
  const other = new Client({ connectionString: own.url() });
  await other.connect();
  try {
    // The one that notices first is the one that gives way.
    await other.query(`set deadlock_timeout = '30s'`);
    await other.query('begin');
    await other.query(`select 1 from turn where turn_id = 'second' for update`);
    const appending = log.appendAll(
      claims.map((claim) => ({
        ...claim,
        expectSeq: 1,
        events: [{ seq: 1, kind: 'chunk', data: null }],
      })),
    );
    await other.query(
      `do $$ begin
         while not exists (select 1 from pg_locks where not granted) loop perform pg_sleep(0.01); end loop;
       end $$`,
    );
    const locked = other.query(`select 1 from turn where turn_id = 'first' for update`);
    await locked;
    await other.query('commit');
    expect(await appending).toEqual([stored, stored]);
  } finally {
    await other.end();
    await database.close();
  }
}, 20_000);

test('Postgres: a process that has lost a turn does not wait for its new owner', async () => {
  const database = await openPostgres(own.url());
  await migrate(database);
  const log = createSqlTurnLog(database, { clock });
  const claims = [await log.acquire('kept', 1), await log.acquire('lost', 1)];
  await log.acquire('lost', 2);
  const owner = new Client({ connectionString: own.url() });
  await owner.connect();
  try {
    await owner.query('begin');
    await owner.query(`select 1 from turn where turn_id = 'lost' for update`);
    const outcomes = await log.appendAll(
      claims.map((claim) => ({
        ...claim,
        expectSeq: 1,
        events: [{ seq: 1, kind: 'chunk', data: null }],
      })),
    );
    expect(outcomes).toEqual([stored, { kind: 'fenced' }]);
  } finally {
    await owner.end();
    await database.close();
  }
});

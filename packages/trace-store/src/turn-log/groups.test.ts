import type { TurnClaim, TurnLog } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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

/** Appends the first event of each of these turns. */
function appendAll(log: TurnLog, claims: readonly TurnClaim[]) {
  const events = [{ seq: 1, kind: 'chunk', data: null }];
  return log.appendAll(claims.map((claim) => ({ ...claim, expectSeq: 1, events })));
}

const UNTIL_SOMEBODY_WAITS = `do $$ begin
  while not exists (select 1 from pg_locks where not granted) loop perform pg_sleep(0.01); end loop;
end $$`;

describe('Postgres, beside another connection', () => {
  let database: SqlDatabase;
  let log: TurnLog;
  let other: Client;
  beforeEach(async () => {
    database = await openPostgres(own.url());
    await migrate(database);
    log = createSqlTurnLog(database, { clock });
    other = new Client({ connectionString: own.url() });
    await other.connect();
    await other.query('begin');
  });
  afterEach(async () => {
    await other.end();
    await database.close();
  });

  test('two that lock each other out: the turns are stored one by one', async () => {
    const claims = [await log.acquire('first', 1), await log.acquire('second', 1)];
    // The one that notices first is the one that gives way.
    await other.query(`set deadlock_timeout = '30s'`);
    await other.query(`select 1 from turn where turn_id = 'second' for update`);
    const appending = appendAll(log, claims);
    await other.query(UNTIL_SOMEBODY_WAITS);
    await other.query(`select 1 from turn where turn_id = 'first' for update`);
    await other.query('commit');
    expect(await appending).toEqual([stored, stored]);
  }, 20_000);

  test('a process that has lost a turn does not wait for its new owner', async () => {
    const claims = [await log.acquire('kept', 1), await log.acquire('lost', 1)];
    await log.acquire('lost', 2);
    await other.query(`select 1 from turn where turn_id = 'lost' for update`);
    expect(await appendAll(log, claims)).toEqual([stored, { kind: 'fenced' }]);
  });

  test.each([
    ['cancelled', 'cancel_requested_at = 1', { ...stored, cancelRequested: true }],
    ['taken by another', 'epoch = epoch + 1', { kind: 'fenced' }],
    ['over', 'finished_at = 1', { kind: 'finished' }],
  ])('a turn that is %s by the time its row is free', async (state, change, outcome) => {
    const claims = [await log.acquire(`beside ${state}`, 1), await log.acquire(state, 1)];
    await other.query(`update turn set ${change} where turn_id = $1`, [state]);
    const appending = appendAll(log, claims);
    await other.query(UNTIL_SOMEBODY_WAITS);
    await other.query('commit');
    expect(await appending).toEqual([stored, outcome]);
    expect(await log.read(state, 0)).toHaveLength(outcome.kind === 'stored' ? 1 : 0);
  });
});

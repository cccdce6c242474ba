import type { ToolOutputStore } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { openStore } from '../open-store.ts';
import { ageTurns } from '../testing/age-turns.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlTurnLog } from './sql-turn-log.ts';
import type { SqlTurnLog } from './sql-turn-log.ts';

const own = useTestDatabase();
const engines: readonly (readonly [string, () => Promise<SqlDatabase>])[] = [
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', () => openPostgres(own.url())],
];
const KINDS = ['phase', 'chunk', 'write_chunk', 'write_rewind', 'write_session', 'usage', 'done'];

async function writeTurn(
  log: SqlTurnLog,
  turnId: string,
  kinds: readonly string[],
): Promise<number> {
  const { epoch } = await log.acquire(turnId, 1);
  await log.append(
    turnId,
    epoch,
    1,
    kinds.map((kind, index) => ({ seq: index + 1, kind, data: { kind } })),
  );
  return epoch;
}

async function age(
  database: SqlDatabase,
  milliseconds: number,
  turnIds: readonly string[],
): Promise<void> {
  for (const turnId of turnIds) await ageTurns(database, milliseconds, turnId);
}

describe.each(engines)('%s', (_, open) => {
  test('a turn that ended long ago keeps its end and its receipts; others keep everything', async () => {
    const database = await open();
    await migrate(database);
    const log = createSqlTurnLog(database, { clock: createFakeClock() });
    await writeTurn(log, 'old', KINDS);
    await writeTurn(log, 'open', KINDS.slice(0, -1));
    await writeTurn(log, 'new', KINDS);
    await age(database, 100_000, ['old']);

    expect(await log.foldOldTurns(60_000)).toBe(1);
    expect(await log.foldOldTurns(60_000)).toBe(0);
    const kindsOf = async (turnId: string): Promise<string[]> =>
      (await log.read(turnId, 0)).map((entry) => entry.kind);
    expect(await kindsOf('old')).toEqual(['write_session', 'usage', 'done']);
    expect(await kindsOf('open')).toEqual(KINDS.slice(0, -1));
    expect(await kindsOf('new')).toEqual(KINDS);
    // Numbers stay, and a reader still ends.
    const seqs: number[] = [];
    for await (const entry of log.tail('old', 0, new AbortController().signal)) {
      seqs.push(entry.seq);
    }
    expect(seqs).toEqual([5, 6, 7]);
    // Whoever resumes is told that what follows is not all (R288).
    for (const seq of [0, 3, 6]) {
      const news: string[] = [];
      const turn = { turnId: 'old', after: { seq, epoch: null } };
      for await (const each of log.follow([turn], new AbortController().signal)) {
        news.push(each.kind === 'event' ? each.entry.kind : each.kind);
      }
      expect(news).toEqual(['reset', 'write_session', 'usage', 'done']);
    }
    await database.close();
  });

  test('a turn that never ended is folded when nothing happened in it for as long, and is over with that (O3)', async () => {
    const clock = createFakeClock(1_000);
    const database = await open();
    await migrate(database);
    const log = createSqlTurnLog(database, { clock });
    const epochs = {
      'taken-alone': (await log.acquire('taken-alone', 1)).epoch,
      killed: await writeTurn(log, 'killed', KINDS.slice(0, -1)),
      alive: await writeTurn(log, 'alive', KINDS.slice(0, -1)),
    };
    const readAll = Promise.withResolvers<void>();
    const reader = (async () => {
      const seqs: number[] = [];
      for await (const entry of log.tail('killed', 0, new AbortController().signal)) {
        seqs.push(entry.seq);
        if (seqs.length === 6) readAll.resolve();
      }
      return seqs;
    })();
    // A real database answers in its own time, and what is folded before it was read is gone.
    await readAll.promise;
    await age(database, 100_000, Object.keys(epochs));
    await log.append('alive', epochs.alive, 7, [{ seq: 7, kind: 'chunk', data: null }]);

    expect(await log.foldOldTurns(60_000)).toBe(2);
    expect(await log.foldOldTurns(60_000)).toBe(0);

    const kindsOf = async (turnId: string): Promise<string[]> =>
      (await log.read(turnId, 0)).map((entry) => entry.kind);
    expect(await kindsOf('killed')).toEqual(['write_session', 'usage']);
    expect(await kindsOf('alive')).toEqual([...KINDS.slice(0, -1), 'chunk']);
    // Who reads it comes to an end, and who thinks that he writes it is told.
    await clock.advance(1_000);
    expect(await reader).toEqual([1, 2, 3, 4, 5, 6]);
    for (const turnId of ['killed', 'taken-alone'] as const) {
      const seq = turnId === 'killed' ? 7 : 1;
      const event = { seq, kind: 'chunk', data: null };
      for (const call of [
        () => log.append(turnId, epochs[turnId], seq, [event]),
        () => log.acquire(turnId, 2),
        () => log.acquire(turnId, null),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: 'TURN_FINISHED' });
      }
    }
    await log.append('alive', epochs.alive, 8, [{ seq: 8, kind: 'done', data: null }]);
    await database.close();
  });

  test('at most so many turns are folded at once, the oldest first', async () => {
    const database = await open();
    await migrate(database);
    const log = createSqlTurnLog(database, { clock: createFakeClock() });
    const turns = ['many-a', 'many-b', 'many-c'];
    for (const turnId of turns) await writeTurn(log, turnId, ['chunk', 'error', 'done']);
    await age(database, 1_000_000, turns);
    expect(await log.foldOldTurns(600_000, 2)).toBe(2);
    expect((await log.read('many-a', 0)).map(({ kind }) => kind)).toEqual(['error', 'done']);
    expect(await log.read('many-c', 0)).toHaveLength(3);
    expect(await log.foldOldTurns(600_000)).toBe(1);
    await database.close();
  });

  test('an append changes no column that an index contains', async () => {
    const database = await open();
    await migrate(database);
    const definitions = await database.all(
      database.dialect === 'postgres'
        ? "select indexdef as sql from pg_indexes where tablename = 'turn'"
        : "select sql from sqlite_schema where type = 'index' and tbl_name = 'turn' and sql is not null",
    );
    expect(definitions.length).toBeGreaterThan(0);
    for (const { sql } of definitions) {
      // The end of a turn is in an index that knows those without one; every other append leaves it as it is.
      expect(sql).not.toMatch(/last_seq|active_at|epoch|checkpoint|attempt/u);
    }
    await database.close();
  });
});

const RETENTION_MS = 30 * 86_400_000;

test.each([-31, 0, 31])(
  'a process whose clock is %i days ahead deletes nothing but what is old by the clock of the store (O2)',
  async (days) => {
    const path = join(mkdtempSync(join(tmpdir(), 'orion-folding-')), 'orion.db');
    onTestFinished(() => {
      rmSync(dirname(path), { recursive: true });
    });
    const right = openStore({ kind: 'sqlite', path }, { clock: createFakeClock(Date.now()) });
    const epochs = new Map<string, number>();
    for (const turnId of ['running', 'young', 'old']) {
      const { epoch } = await right.turnLog.acquire(turnId, 1);
      epochs.set(turnId, epoch);
      await right.turnLog.append(turnId, epoch, 1, [{ seq: 1, kind: 'chunk', data: null }]);
    }
    const database = await openSqlite(path);
    await age(database, RETENTION_MS - 60_000, ['young']);
    await age(database, RETENTION_MS + 60_000, ['old']);
    await put(right.toolOutputs, 'young', Date.now() - RETENTION_MS + 60_000);
    await put(right.toolOutputs, 'old', Date.now() - RETENTION_MS - 60_000);

    const clock = createFakeClock(Date.now() + days * 86_400_000);
    const skewed = openStore({ kind: 'sqlite', path }, { clock });
    await skewed.turnLog.acquire('another', 1);
    await skewed.close();

    expect(await right.turnLog.read('running', 0)).toHaveLength(1);
    expect(await right.turnLog.read('young', 0)).toHaveLength(1);
    expect(await right.turnLog.read('old', 0)).toHaveLength(0);
    expect((await right.toolOutputs.list({})).outputs.map(({ id }) => id)).toEqual(['young']);
    const epoch = epochs.get('running') ?? 0;
    const event = { seq: 2, kind: 'done', data: null };
    expect(await right.turnLog.append('running', epoch, 2, [event])).toBe(2);
    await database.close();
    await right.close();
  },
);

async function put(store: ToolOutputStore, id: string, createdAt: number): Promise<void> {
  await store.put({
    id,
    project_id: 'p',
    tool_name: 't',
    conversation_id: 'c',
    message_id: 'm',
    created_at: createdAt,
    success: true,
    parameters: {},
    output: '1',
  });
}

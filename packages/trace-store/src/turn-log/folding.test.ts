import { createFakeClock } from '@orion/testkit';
import { describe, expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { openStore } from '../open-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlTurnLog } from './sql-turn-log.ts';
import type { SqlTurnLog } from './sql-turn-log.ts';

const own = useTestDatabase();
const engines: readonly (readonly [string, () => Promise<SqlDatabase>])[] = [
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', () => openPostgres(own.url())],
];
const KINDS = ['phase', 'chunk', 'write_chunk', 'write_rewind', 'write_session', 'usage', 'done'];

async function writeTurn(log: SqlTurnLog, turnId: string, kinds: readonly string[]): Promise<void> {
  await log.acquire(turnId, 1);
  await log.append(
    turnId,
    1,
    1,
    kinds.map((kind, index) => ({ seq: index + 1, kind, data: { kind } })),
  );
}

describe.each(engines)('%s', (_, open) => {
  test('a turn that ended long ago keeps its end and its receipts; others keep everything', async () => {
    const clock = createFakeClock(1_000);
    const database = await open();
    await migrate(database);
    const log = createSqlTurnLog(database, { clock });
    await writeTurn(log, 'old', KINDS);
    await clock.advance(1_000);
    await writeTurn(log, 'open', KINDS.slice(0, -1));
    await writeTurn(log, 'new', KINDS);

    expect(await log.foldOldTurns(2_000)).toBe(1);
    expect(await log.foldOldTurns(2_000)).toBe(0);
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
    await database.close();
  });

  test('a turn that never ended is folded when nothing happened in it for as long, and its writer is fenced', async () => {
    const clock = createFakeClock(1_000);
    const database = await open();
    await migrate(database);
    const log = createSqlTurnLog(database, { clock });
    await log.acquire('taken-alone', 1);
    await writeTurn(log, 'killed', KINDS.slice(0, -1));
    await writeTurn(log, 'alive', KINDS.slice(0, -1));
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
    await clock.advance(500);
    await log.append('alive', 1, 7, [{ seq: 7, kind: 'chunk', data: null }]);

    expect(await log.foldOldTurns(1_200)).toBe(2);
    expect(await log.foldOldTurns(1_200)).toBe(0);

    const kindsOf = async (turnId: string): Promise<string[]> =>
      (await log.read(turnId, 0)).map((entry) => entry.kind);
    expect(await kindsOf('killed')).toEqual(['write_session', 'usage']);
    expect(await kindsOf('alive')).toEqual([...KINDS.slice(0, -1), 'chunk']);
    // Who reads it comes to an end, and who thinks that he writes it is told.
    await clock.advance(1_000);
    expect(await reader).toEqual([1, 2, 3, 4, 5, 6]);
    for (const turnId of ['killed', 'taken-alone']) {
      await expect(
        log.append(turnId, 1, turnId === 'killed' ? 7 : 1, [
          { seq: turnId === 'killed' ? 7 : 1, kind: 'chunk', data: null },
        ]),
      ).rejects.toMatchObject({ code: 'FENCED' });
    }
    // Another writer may still take it, numbered where it stands.
    await log.acquire('killed', 3);
    expect(await log.append('killed', 3, 7, [{ seq: 7, kind: 'done', data: null }])).toBe(7);
    await log.append('alive', 1, 8, [{ seq: 8, kind: 'done', data: null }]);
    await database.close();
  });

  test('at most so many turns are folded at once, the oldest first', async () => {
    const clock = createFakeClock(5_000);
    const database = await open();
    await migrate(database);
    const log = createSqlTurnLog(database, { clock });
    // What other tests left in the same database.
    await log.foldOldTurns(5_000);
    for (const turnId of ['a', 'b', 'c']) {
      await writeTurn(log, `many-${turnId}`, ['chunk', 'done']);
      await clock.advance(1);
    }
    expect(await log.foldOldTurns(6_000, 2)).toBe(2);
    expect(await log.read('many-a', 0)).toHaveLength(1);
    expect(await log.read('many-c', 0)).toHaveLength(2);
    await log.foldOldTurns(6_000);
    await database.close();
  });
});

test('the first turn that a process takes folds those in which nothing happened for 30 days', async () => {
  const location = { kind: 'postgres', url: own.url() } as const;
  const clock = createFakeClock(0);
  const before = openStore(location, { clock });
  await before.turnLog.acquire('taken', 1);
  await before.turnLog.append('taken', 1, 1, [
    { seq: 1, kind: 'chunk', data: null },
    { seq: 2, kind: 'done', data: null },
  ]);
  await before.close();
  const keptAfterAnother = async (epoch: number): Promise<string[]> => {
    const later = openStore(location, { clock });
    await later.turnLog.acquire('another', epoch);
    await later.close();
    const reader = openStore(location, { clock });
    const kept = await reader.turnLog.read('taken', 0);
    await reader.close();
    return kept.map((entry) => entry.kind);
  };
  await clock.advance(30 * 86_400_000);
  expect(await keptAfterAnother(1)).toEqual(['chunk', 'done']);
  await clock.advance(1);
  expect(await keptAfterAnother(2)).toEqual(['done']);
});

import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { storeUnavailable } from '../engine/sql-database.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { createSqlTurnLog } from './sql-turn-log.ts';

/** Hazard: a writer that is refused does not learn what it has to mend. */

test('a reader waits for a database that comes back, and is told of one that does not', async () => {
  for (const retryable of [true, false]) {
    const clock = createFakeClock();
    const turn = { turn_no: 1, last_seq: 2, finished_at: 0, folded_at: null };
    const event = { epoch: 1, data: '1', stored_at: 0 };
    const chunk = { ...turn, epoch_at: null, ...event, seq: 1, kind: 'chunk' };
    const done = { ...turn, epoch_at: 1, ...event, seq: 2, kind: 'done' };
    let reads = 0;
    const database: SqlDatabase = {
      dialect: 'sqlite',
      run: () => Promise.resolve(1),
      async all() {
        reads += 1;
        if (reads === 2) throw storeUnavailable('away', { retryable });
        return [reads === 1 ? chunk : done];
      },
      transaction: () => Promise.reject(new Error('not used')),
      listen: () => () => undefined,
      takeLock: () => Promise.resolve(null),
      close: () => Promise.resolve(),
    };
    const log = createSqlTurnLog(database, { clock });
    const seqs: number[] = [];
    const reading = (async () => {
      for await (const { seq } of log.tail('t', 0, new AbortController().signal)) seqs.push(seq);
    })();
    if (retryable) {
      await clock.advance(1_000);
      await reading;
      expect(seqs).toEqual([1, 2]);
    } else {
      await expect(reading).rejects.toThrow('away');
    }
  }
});

test('a refused append says where the turn is', async () => {
  const database = await openSqlite(':memory:');
  await migrate(database);
  const log = createSqlTurnLog(database, { clock: createFakeClock() });
  const event = (seq: number, data: string | null = null) => ({ seq, kind: 'chunk', data });
  const { epoch } = await log.acquire('t', 2);
  await log.append('t', epoch, 1, [event(1), event(2)]);
  const start = 'The events do not continue the turn t: ';
  await expect(log.append('t', epoch, 3, [event(3), event(5)])).rejects.toMatchObject({
    code: 'TURN_LOG_GAP',
    message: `${start}the number 5 is in the place of 4`,
  });
  await expect(log.append('t', epoch, 4, [event(4)])).rejects.toMatchObject({
    code: 'TURN_LOG_GAP',
    message: `${start}its last number is 2, which 4 does not follow`,
  });
  await expect(log.append('t', epoch, 1, [event(1), event(2, 'other')])).rejects.toMatchObject({
    code: 'TURN_LOG_GAP',
    message: `${start}the numbers from 1 to 2 are taken`,
  });
  await expect(log.append('t', 1, 3, [event(3)])).rejects.toMatchObject({
    code: 'FENCED',
    message: 'The turn t does not belong to the owner 1',
  });
  await expect(log.acquire('t', 1)).rejects.toMatchObject({
    code: 'FENCED',
    message: 'The turn t does not belong to the owner of the attempt 1',
  });
  await log.append('t', epoch, 3, [{ seq: 3, kind: 'done', data: null }]);
  for (const refused of [() => log.append('t', epoch, 4, [event(4)]), () => log.acquire('t', 2)]) {
    await expect(refused()).rejects.toMatchObject({
      code: 'TURN_FINISHED',
      message: 'The turn t is over',
    });
  }
  await database.close();
});

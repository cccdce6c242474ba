import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { createSqlTurnLog } from './sql-turn-log.ts';

/** Hazard: a writer that is refused does not learn what it has to mend. */

test('a refused append says where the turn is', async () => {
  const database = await openSqlite(':memory:');
  await migrate(database);
  const log = createSqlTurnLog(database, { clock: createFakeClock() });
  const event = (seq: number, data: string | null = null) => ({ seq, kind: 'chunk', data });
  await log.acquire('t', 2);
  await log.append('t', 2, 1, [event(1), event(2)]);
  const start = 'The events do not continue the turn t: ';
  await expect(log.append('t', 2, 3, [event(3), event(5)])).rejects.toMatchObject({
    code: 'TURN_LOG_GAP',
    message: `${start}the number 5 is in the place of 4`,
  });
  await expect(log.append('t', 2, 4, [event(4)])).rejects.toMatchObject({
    code: 'TURN_LOG_GAP',
    message: `${start}its last number is 2, which 4 does not follow`,
  });
  await expect(log.append('t', 2, 1, [event(1), event(2, 'other')])).rejects.toMatchObject({
    code: 'TURN_LOG_GAP',
    message: `${start}the numbers from 1 to 2 are taken`,
  });
  for (const refused of [log.append('t', 1, 3, [event(3)]), log.acquire('t', 1)]) {
    await expect(refused).rejects.toMatchObject({
      code: 'FENCED',
      message: 'The turn t does not belong to the writer 1',
    });
  }
  await database.close();
});

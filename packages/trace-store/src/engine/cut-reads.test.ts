import { expect, onTestFinished, test } from 'vitest';
import { startFaultyProxy } from '../testing/faulty-proxy.ts';
import { execute, useTestDatabase } from '../testing/test-database.ts';
import { openPostgres } from './postgres.ts';

/** Hazard: a broken connection fails what could just be asked again, or repeats what may have happened. */

const own = useTestDatabase();

async function openCut(options: Parameters<typeof openPostgres>[1] = {}) {
  const proxy = await startFaultyProxy(own.url());
  const database = await openPostgres(proxy.url, options);
  onTestFinished(async () => {
    await database.close();
    await proxy.close();
  });
  return { proxy, database };
}

test.each(['lose-answer', 'cut-at-once'] as const)(
  'a read (%s) is asked once more',
  async (fault) => {
    const { proxy, database } = await openCut();
    for (let round = 0; round < 5; round += 1) {
      proxy.arm(fault, 'as marked');
      expect(await database.all('select 7 as marked')).toEqual([{ marked: 7 }]);
      proxy.arm(fault, 'as marked');
      expect(await database.all('\n  SELECT 7 as marked')).toEqual([{ marked: 7 }]);
    }
    expect(proxy.faults).toBe(10);
  },
);

test('a read whose connection the server ends is asked once more', async () => {
  const { database } = await openCut({ maxConnections: 1 });
  const backend = async () =>
    Number((await database.all('select pg_backend_pid() as id'))[0]?.['id']);
  const id = await backend();
  const slow = database.all('select 7 as n, pg_sleep(0.2)::text');
  await execute(own.url(), `select pg_terminate_backend(${id})`);
  expect(await slow).toMatchObject([{ n: 7 }]);
  expect(await backend()).not.toBe(id);
});

test('what may have changed something is not, in whatever form, nor is a part of a transaction', async () => {
  const { proxy, database } = await openCut();
  const away = { code: 'STORE_UNAVAILABLE', retryable: true };
  await database.run('create table changed (n integer)');
  for (const sql of [
    'insert into changed values (1) returning n',
    'with made as (insert into changed values (2) returning n) select n from made',
  ]) {
    proxy.arm('lose-answer', 'into changed');
    await expect(database.all(sql)).rejects.toMatchObject(away);
  }
  proxy.arm('lose-answer', 'into changed');
  await expect(database.run('insert into changed values (3)')).rejects.toMatchObject(away);
  proxy.arm('lose-answer', 'select n');
  const begun: number[] = [];
  const transaction = database.transaction((inside) => {
    begun.push(1);
    return inside.all('select n from changed');
  });
  await expect(transaction).rejects.toMatchObject(away);
  expect(begun).toEqual([1]);
  expect(await database.all('select n from changed order by n')).toEqual([
    { n: 1 },
    { n: 2 },
    { n: 3 },
  ]);
});

test('a read is not asked for ever, nor again where the server is only silent', async () => {
  const { proxy, database } = await openCut({ statementMs: 100 });
  proxy.arm('hang', 'as marked');
  await expect(database.all('select 7 as marked')).rejects.toMatchObject({ retryable: true });
  expect(proxy.faults).toBe(1);
  const slow = database.all('select pg_sleep(0.05)');
  proxy.setOpen(false);
  await expect(slow).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

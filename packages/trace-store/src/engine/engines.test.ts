import { expect, test } from 'vitest';
import { useTestDatabase } from '../testing/test-database.ts';
import { openPostgres } from './postgres.ts';

const own = useTestDatabase();

test('Postgres answers', async () => {
  const database = await openPostgres(own.url());
  expect(await database.all('select $2::bigint as b, $1 as a', ['x', 5])).toEqual([
    { b: 5, a: 'x' },
  ]);
  await database.close();
});

import { expect, test, vi } from 'vitest';
import { insertAll, onAbort, whereAll } from './sql-database.ts';
import type { SqlRunner, SqlValue } from './sql-database.ts';

test.each([
  [0, []],
  [1, [1]],
  [1_000, [1_000]],
  [1_001, [1_000, 1]],
  [2_000, [1_000, 1_000]],
])('%i rows are inserted in statements of %j', async (count, sizes) => {
  const statements: [sql: string, parameters: readonly SqlValue[]][] = [];
  const runner: SqlRunner = {
    dialect: 'sqlite',
    async run(sql, parameters = []) {
      statements.push([sql, parameters]);
      const begun = statements.length;
      await Promise.resolve();
      expect(statements).toHaveLength(begun);
      return 0;
    },
    all: () => Promise.resolve([]),
  };
  const rows = Array.from({ length: count }, (_, row) => [row, `row ${row}`]);
  await insertAll(runner, 'pair', ['a', 'b'], rows);
  expect(statements.map(([, parameters]) => parameters.length / 2)).toEqual(sizes);
  expect(statements.flatMap(([, parameters]) => parameters)).toEqual(rows.flat());
  for (const [index, [sql]] of statements.entries()) {
    expect(sql).toMatch(/^insert into pair \(a, b\) values \(\$1, \$2\)/u);
    expect(sql.endsWith(`$${(sizes[index] ?? 0) * 2})`)).toBe(true);
  }
});

test('conditions without a value are left out, and the others number their values', () => {
  const parameters: SqlValue[] = ['first'];
  expect(whereAll({ 'a =': undefined, 'b >': 0, 'c =': null, 'd <': 'x' }, parameters)).toBe(
    'where b > $2 and c = $3 and d < $4',
  );
  expect(parameters).toEqual(['first', 0, null, 'x']);
  expect(whereAll({ 'a =': undefined }, parameters)).toBe('');
  expect(parameters).toHaveLength(4);
});

test('an abort is heard of once, at once when it has been, and not after it was forgotten', () => {
  const action = vi.fn();
  const cut = new AbortController();
  onAbort(undefined, action)();
  onAbort(cut.signal, action)();
  onAbort(cut.signal, action);
  expect(action).not.toHaveBeenCalled();
  cut.abort();
  expect(action).toHaveBeenCalledOnce();
  onAbort(cut.signal, action);
  expect(action).toHaveBeenCalledTimes(2);
});

import { expect, test } from 'vitest';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { createSqlToolOutputStore } from './sql-tool-output-store.ts';

test('a damaged record is counted and hides no other', async () => {
  const database = await openSqlite(':memory:');
  await migrate(database);
  const store = createSqlToolOutputStore(database);
  for (const id of ['a', 'b', 'c']) {
    await store.put({
      id,
      tool_name: 'read_file',
      conversation_id: 'c1',
      message_id: 'm1',
      created_at: 1,
      success: true,
      parameters: {},
      output: 'text',
    });
  }
  await database.run("update tool_output set output = '{\"cut' where id = 'b'");
  const listed = await store.list({ order: 'oldest' });
  expect(listed.records.map((record) => record.id)).toEqual(['a', 'c']);
  expect([listed.total, listed.damaged]).toEqual([3, 1]);
  await expect(store.get('b')).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: 'The tool output b is damaged',
    retryable: false,
  });
  expect((await store.get('a'))?.output).toBe('text');
  await database.close();
});

test('an id that none can have is refused before the database is asked', async () => {
  const store = createSqlToolOutputStore({
    dialect: 'sqlite',
    run: () => Promise.reject(new Error('asked')),
    all: () => Promise.reject(new Error('asked')),
    transaction: () => Promise.reject(new Error('asked')),
    listen: () => () => undefined,
    close: () => Promise.resolve(),
  });
  for (const id of ['', 'a b', '../x', 'x'.repeat(129), 'ä']) {
    await expect(store.get(id)).rejects.toMatchObject({
      code: 'INVALID_OUTPUT_ID',
      message: 'An output id has letters, digits, _ and -, at most 128',
    });
  }
  await expect(store.get('x'.repeat(128))).rejects.toThrow('asked');
});

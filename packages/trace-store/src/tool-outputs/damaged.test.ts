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
  await expect(store.get('b')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect((await store.get('a'))?.output).toBe('text');
  await database.close();
});

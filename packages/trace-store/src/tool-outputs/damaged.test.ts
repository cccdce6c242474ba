import { expect, test } from 'vitest';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { createSqlToolOutputStore } from './sql-tool-output-store.ts';

test('a damaged record is counted and hides no other', async () => {
  const database = await openSqlite(':memory:');
  await migrate(database);
  const store = createSqlToolOutputStore(database);
  for (const id of ['a', 'b', 'c', 'd']) {
    await store.put({
      id,
      project_id: 'p',
      tool_name: 'read_file',
      conversation_id: 'c1',
      message_id: 'm1',
      created_at: 1,
      success: true,
      parameters: {},
      output: '"text"',
    });
  }
  await database.run("update tool_output set created_at = 'when' where id = 'b'");
  await database.run("delete from tool_output_text where id = 'd'");
  const listed = await store.list({ order: 'oldest' });
  expect(listed.outputs.map((output) => output.id)).toEqual(['a', 'c', 'd']);
  expect([listed.total, listed.damaged]).toEqual([4, 1]);
  const damaged = (id: string): unknown => ({
    code: 'OUTPUT_CORRUPT',
    message: `The tool output ${id} is damaged.`,
  });
  await expect(store.find('b')).rejects.toMatchObject(damaged('b') as object);
  await expect(store.read('d')).rejects.toMatchObject(damaged('d') as object);
  expect((await store.read('a'))?.output).toBe('"text"');
  await database.close();
});

test('an id that none can have is refused before the database is asked', async () => {
  const store = createSqlToolOutputStore({
    dialect: 'sqlite',
    run: () => Promise.reject(new Error('asked')),
    all: () => Promise.reject(new Error('asked')),
    transaction: () => Promise.reject(new Error('asked')),
    listen: () => () => undefined,
    takeLock: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  });
  for (const id of ['', 'a b', '../x', 'x'.repeat(129), 'ä']) {
    await expect(store.read(id)).rejects.toMatchObject({
      code: 'INVALID_OUTPUT_ID',
      message: 'An output id has letters, digits, _ and -, at most 128',
    });
  }
  await expect(store.read('x'.repeat(128))).rejects.toThrow('asked');
});

test.for([
  ['project_id', 7],
  ['tool_name', 7],
  ['conversation_id', 7],
  ['message_id', 7],
  ['preview', 7],
  ['created_at', 'when'],
  ['bytes', 1.5],
  ['characters', 'many'],
] as const)('a record with a damaged %s is no output', async ([column, value]) => {
  const rows = [
    {
      id: 'a',
      project_id: 'p',
      tool_name: 't',
      conversation_id: 'c',
      message_id: 'm',
      preview: '',
      created_at: 1,
      bytes: 2,
      characters: 2,
      success: 1,
      cut: 0,
      expired_at: null,
    },
  ];
  const store = (damaged: object) =>
    createSqlToolOutputStore({
      dialect: 'sqlite',
      run: () => Promise.reject(new Error('changed')),
      all: () => Promise.resolve(rows.map((row) => ({ ...row, ...damaged, total: 1 }))),
      transaction: () => Promise.reject(new Error('changed')),
      listen: () => () => undefined,
      takeLock: () => Promise.resolve(null),
      close: () => Promise.resolve(),
    });
  expect(await store({}).list({})).toMatchObject({ outputs: [{ id: 'a' }], damaged: 0 });
  expect(await store({ [column]: value }).list({})).toEqual({ outputs: [], total: 1, damaged: 1 });
});

import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

const own = useTestDatabase();

const value = { s: 'a\u0000\ud800', key: 'Bearer abc', n: 1.5 };

async function record(database: SqlDatabase): Promise<void> {
  await migrate(database);
  const store = createSqlTraceStore(database, {
    clock: createFakeClock(),
    createId: () => 'w',
    strict: true,
  });
  store.record({ type: 'odd', details: value, error: 'plain text', metadata: ['a', 'b\u0000'] });
  store.record({ type: 'plain', details: { s: 'ordinary' } });
  await store.flush();
  await store.close();
}

test('Postgres: queries see a projection, raw is what was recorded, a text is a JSON text (A8, R227)', async () => {
  const database = await openPostgres(own.url());
  try {
    await record(database);
    const [row, plain] = await database.all(
      `select raw, body ->> 's' as s, body ->> 'key' as key, (body ->> 'n')::float8 as n,
        jsonb_typeof(error) as error_type, error #>> '{}' as error_text,
        jsonb_typeof(metadata) as metadata_type, metadata ->> 1 as second
      from trace_event order by id`,
    );
    expect(row).toEqual({
      raw: '{"s":"a\\u0000\\ud800","key":"[REDACTED]","n":1.5}',
      s: 'a\ufffd\ufffd',
      key: '[REDACTED]',
      n: 1.5,
      error_type: 'string',
      error_text: 'plain text',
      metadata_type: 'array',
      second: 'b\ufffd',
    });
    expect(plain).toMatchObject({ s: 'ordinary', error_type: null, metadata_type: null });
  } finally {
    await database.close();
  }
});

test.each([
  ['Postgres', () => openPostgres(own.url())],
  ['SQLite', () => openSqlite(':memory:')],
])('A8: what was recorded is stored by %s, whatever it holds', async (_, open) => {
  const database = await open();
  try {
    await migrate(database);
    const store = createSqlTraceStore(database, { clock: createFakeClock(), createId: () => 'a8' });
    const self: Record<string, unknown> = {};
    self['self'] = self;
    store.record({
      type: 'a8',
      details: {
        big: 10n,
        e: new Error('x'),
        self,
        s: 'a\u0000\ud800',
        u: undefined,
        key: 'Bearer abc',
      },
      error: 'plain text',
    });
    await store.flush();
    expect(store.dropped()).toBe(0);
    await store.close();
    const [row] = await database.all(
      `select error, ${database.dialect === 'postgres' ? 'body' : 'coalesce(body, raw)'} as body
       from trace_event where type = 'a8'`,
    );
    expect(row?.['error']).toBe('"plain text"');
    const body = JSON.parse(String(row?.['body'])) as unknown;
    expect(body).toEqual({
      big: '10n',
      e: { name: 'Error', message: 'x', stack: expect.stringMatching(/^Error: x\n/) },
      self: { self: '[circular]' },
      s: 'a\ufffd\ufffd',
      u: '[undefined]',
      key: '[REDACTED]',
    });
  } finally {
    await database.close();
  }
});

test('SQLite: the projection is kept where it differs from raw', async () => {
  const database = await openSqlite(':memory:');
  try {
    await record(database);
    const rows = await database.all(
      `select raw, body, json_extract(coalesce(body, raw), '$.s') as s, error, metadata
      from trace_event order by id`,
    );
    expect(rows).toMatchObject([
      {
        raw: '{"s":"a\\u0000\\ud800","key":"[REDACTED]","n":1.5}',
        s: 'a\ufffd\ufffd',
        error: '"plain text"',
        metadata: '["a","b\ufffd"]',
      },
      { raw: '{"s":"ordinary"}', body: null, s: 'ordinary', error: null, metadata: null },
    ]);
  } finally {
    await database.close();
  }
});

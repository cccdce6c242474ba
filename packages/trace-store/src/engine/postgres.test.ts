import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { OrionError } from '@orion/contracts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startFaultyProxy } from '../testing/faulty-proxy.ts';
import { execute, useTestDatabase } from '../testing/test-database.ts';
import { openPostgres } from './postgres.ts';
import { readUrl } from './postgres-url.ts';
import { SqlRefusedError } from './sql-database.ts';

const PASSWORD = 'pass%2Fword-canary';
const own = useTestDatabase();

const SLEEPING =
  "select 1 from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%'";

async function errorOf(result: Promise<unknown>): Promise<OrionError> {
  const error: unknown = await result.catch((thrown: unknown) => thrown);
  if (!OrionError.isInstance(error)) throw new Error(`Not an OrionError: ${String(error)}`);
  return error;
}

test('whole numbers are numbers, and JSON is text', async () => {
  const database = await openPostgres(own.url());
  expect(
    await database.all(
      `select $1::bigint as long, 7::smallint as short, 1.5::float8 as real,
       $2::jsonb as json, null::text as nothing`,
      [1_700_000_000_000, '{"b":1,"a":[2]}'],
    ),
  ).toEqual([
    { long: 1_700_000_000_000, short: 7, real: 1.5, json: '{"a": [2], "b": 1}', nothing: null },
  ]);
  expect(await database.all('select * from unnest($1::text[]) as t', [['a"{', null]])).toEqual([
    { t: 'a"{' },
    { t: null },
  ]);
  await database.close();
});

test('a refused statement is told apart from a database that is away, and costs no connection', async () => {
  const database = await openPostgres(own.url(), { maxConnections: 1 });
  const connection = async (): Promise<unknown> =>
    (await database.all('select pg_backend_pid() as id'))[0]?.['id'];
  const before = await connection();
  for (const [sql, reason] of [
    ['select $1::jsonb', '22P05'],
    ['select $1::jsonb from nothing', '42P01'],
  ] as const) {
    const error: unknown = await database
      .all(sql, ['"\\u0000"'])
      .catch((thrown: unknown) => thrown);
    expect(error instanceof SqlRefusedError && error.reason).toBe(reason);
  }
  await database.transaction(() => Promise.reject(new Error('a defect'))).catch(() => undefined);
  expect(await connection()).toBe(before);
  await database.close();
});

test('a server that is full costs an error and no connection, in a transaction too', async () => {
  const database = await openPostgres(own.url(), { maxConnections: 1 });
  await database.run(`create function full_disk() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
  await database.run('create table on_full_disk (a integer)');
  await database.run(`create trigger full_disk before insert on on_full_disk
    for each statement execute function full_disk()`);
  const backend = (): Promise<unknown> => database.all('select pg_backend_pid() as id');
  const before = await backend();
  const insert = 'insert into on_full_disk values (1)';
  const full = { code: 'STORE_UNAVAILABLE', retryable: true, details: { reason: '53100' } };
  await expect(database.run(insert)).rejects.toMatchObject(full);
  await expect(database.transaction((inside) => inside.run(insert))).rejects.toMatchObject(full);
  expect(await backend()).toEqual(before);
  expect(await database.all('select * from on_full_disk')).toEqual([]);
  await database.close();
});

test('a transaction happens wholly or not at all', async () => {
  const database = await openPostgres(own.url());
  await database.run('create table number (n bigint primary key)');
  const failed = database.transaction(async (inside) => {
    expect(await inside.run('insert into number values (1), (2)')).toBe(2);
    await inside.run('insert into number values (1)');
  });
  await expect(failed).rejects.toBeInstanceOf(SqlRefusedError);
  expect(await database.all('select * from number')).toEqual([]);
  await database.close();
});

test('the URL alone decides, whatever the environment says', async () => {
  vi.stubEnv('PGOPTIONS', '-c default_transaction_read_only=on');
  vi.stubEnv('PGSSLMODE', 'require');
  vi.stubEnv('PGSSLNEGOTIATION', 'direct');
  vi.stubEnv('PGAPPNAME', 'someone');
  vi.stubEnv('PGPASSWORD', 'another');
  vi.stubEnv('PGUSER', 'nobody');
  vi.stubEnv('PGCLIENT_ENCODING', 'LATIN1');
  const database = await openPostgres(own.url());
  try {
    await database.run('create table written (a text)');
    expect(
      await database.all(
        "select current_setting('application_name') as name, current_setting('client_encoding') as encoding",
      ),
    ).toEqual([{ name: 'orion', encoding: 'UTF8' }]);
  } finally {
    vi.unstubAllEnvs();
    await database.close();
  }
});

/** All that the driver is given, but for its functions. */
function configOf(url: string, options = {}) {
  const { config } = readUrl(url, options);
  const { password } = config;
  if (typeof password !== 'function') throw new Error('The driver would look for a password');
  return { ...config, password: password(), types: undefined };
}

test('everything that the driver could look up elsewhere is set', () => {
  expect(configOf('postgres://')).toEqual({
    host: 'localhost',
    port: 5432,
    user: 'postgres',
    password: '',
    database: 'postgres',
    ssl: false,
    sslnegotiation: 'postgres',
    application_name: 'orion',
    client_encoding: 'UTF8',
    options: '-c timezone=UTC',
    statement_timeout: 10_000,
    query_timeout: 11_000,
    lock_timeout: 10_000,
    // Less than the heartbeat of a turn: what a frozen process has locked is free when that runs out.
    idle_in_transaction_session_timeout: 5_000,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    max: 6,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
});

test.each([
  ['postgres://ann@h', { host: 'h', port: 5432, user: 'ann', password: '', database: 'ann' }],
  [
    'postgresql://a%20b:p%2Fw@h:1/d%20b',
    { port: 1, user: 'a b', password: 'p/w', database: 'd b' },
  ],
  ['postgres://u:100%@h/100%', { password: '100%', database: '100%' }],
  ['postgres://u@h:1/d?host=/run/pg&port=7', { host: '/run/pg', port: 7 }],
  ['postgres://u@[::1]:7/d', { host: '::1', port: 7 }],
  ['postgres://u@h/d?options=-c%20x%3D1', { options: '-c x=1' }],
  ['postgres://u@h/d?sslmode=no-verify', { ssl: { rejectUnauthorized: false } }],
  ['postgres://u@h/d?sslmode=require', { ssl: true }],
])('of %s the driver gets %j', (url, expected) => {
  expect(configOf(url)).toMatchObject(expected);
});

test('limits of time are given to the server and to the driver', () => {
  expect(
    configOf('postgres://h', { statementMs: 50, connectMs: 7, maxConnections: 2 }),
  ).toMatchObject({
    statement_timeout: 50,
    query_timeout: 1_050,
    lock_timeout: 50,
    idle_in_transaction_session_timeout: 1_050,
    connectionTimeoutMillis: 7,
    max: 2,
  });
});

test('of what is shown the password is taken out, as it is in the URL and as it is', () => {
  expect(readUrl('postgres://u:p%2Fw@h/d', {}).conceal('p/w, p%2Fw and pw')).toBe(
    '[REDACTED], [REDACTED] and pw',
  );
  expect(readUrl('postgres://u@h/d', {}).conceal('as it is')).toBe('as it is');
});

test('what no repeat mends is final, and says what it is', async () => {
  const url = new URL(own.url());
  url.pathname = '/no_such_database';
  const missing = await openPostgres(url.href);
  expect(await errorOf(missing.all('select 1'))).toMatchObject({
    retryable: false,
    details: { reason: '3D000' },
    message: expect.stringMatching(/^The Postgres database cannot be used: .*does not exist/u),
  });
  await missing.close();
  const away = await openPostgres('postgres://user@127.0.0.1:1/database');
  expect(await errorOf(away.all('select 1'))).toMatchObject({
    retryable: true,
    details: { reason: 'ECONNREFUSED' },
  });
  await away.close();
});

test('inside of a transaction the dialect is known, and a rest of nothing is no row', async () => {
  const database = await openPostgres(own.url());
  expect(await database.transaction((inside) => Promise.resolve(inside.dialect))).toBe('postgres');
  expect(database.dialect).toBe('postgres');
  expect(await database.run('select 1 where false')).toBe(0);
  await database.close();
});

test('no error carries the password (B19)', async () => {
  const away = `postgres://user:${PASSWORD}@127.0.0.1:1/database`;
  const database = await openPostgres(away);
  const errors = [
    await errorOf(database.all('select 1')),
    await errorOf(openPostgres(`postgres://user:${PASSWORD}@[bad/database`)),
    await errorOf(openPostgres(`mysql://user:${PASSWORD}@host/database`)),
    await errorOf(openPostgres(`user:${PASSWORD}`)),
  ];
  await database.close();
  // A name that is the password too: the driver's own words hold it.
  const named = await openPostgres(
    own.url().replace(/\/\/[^@]*@/u, '//no_such_role:no_such_role@'),
  );
  errors.push(await errorOf(named.all('select 1')));
  await named.close();
  for (const error of errors) {
    const shown = [error.message, error.stack, error.hint, JSON.stringify(error), error.cause];
    expect(error.code).toBe('STORE_UNAVAILABLE');
    expect(shown.join('\n')).not.toMatch(/word-canary|no_such_role/u);
  }
});

test('a server that takes the connection and says nothing is given up', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const database = await openPostgres(`postgres://user@127.0.0.1:${port}/database`, {
    connectMs: 50,
  });
  expect((await errorOf(database.all('select 1'))).retryable).toBe(true);
  await database.close();
  server.close();
});

test('a query that is never answered ends, and its connection is not used again', async () => {
  const proxy = await startFaultyProxy(own.url());
  const database = await openPostgres(proxy.url, { maxConnections: 1, statementMs: 50 });
  await database.all('select 1');
  proxy.arm('hang', 'select 2');
  expect((await errorOf(database.all('select 2'))).code).toBe('STORE_UNAVAILABLE');
  expect(await database.all('select 3 as n')).toEqual([{ n: 3 }]);
  // One that the server itself gives up.
  expect((await errorOf(database.all('select pg_sleep(5)'))).code).toBe('STORE_UNAVAILABLE');
  await database.close();
  await proxy.close();
});

test('closing waits for no server that hangs, neither for its answer nor for its greeting', async () => {
  const proxy = await startFaultyProxy(own.url());
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const hanging = await openPostgres(proxy.url);
  proxy.arm('hang', 'select 2');
  const silent = await openPostgres(`postgres://user@127.0.0.1:${port}/database`);
  const start = performance.now();
  const answers = Promise.all([
    errorOf(hanging.all('select 2')),
    errorOf(silent.all('select 1')),
    errorOf(silent.transaction((inside) => inside.all('select 1'))),
  ]);
  await vi.waitFor(() => {
    expect(proxy.faults).toBe(1);
  });
  await Promise.all([hanging.close(), silent.close()]);
  expect((await answers).map((error) => error.code)).toEqual(
    Array.from({ length: 3 }, () => 'STORE_UNAVAILABLE'),
  );
  // Far from the five and ten seconds that they would have had.
  expect(performance.now() - start).toBeLessThan(3_000);
  await proxy.close();
  server.close();
}, 15_000);

test('every call that closes it waits for its connections, not the first alone', async () => {
  const database = await openPostgres(own.url());
  const done: string[] = [];
  const after = async (what: string, work: Promise<unknown>): Promise<void> => {
    await work;
    done.push(what);
  };
  const asked = after('answered', database.all('select pg_sleep(0.1)'));
  await vi.waitFor(async () => {
    expect(await database.all(SLEEPING)).toHaveLength(1);
  });
  await Promise.all([
    asked,
    after('closed', database.close()),
    after('closed again', database.close()),
  ]);
  expect(done).toEqual(['answered', 'closed', 'closed again']);
});

test('a connection that breaks while nobody uses it ends nothing', async () => {
  const database = await openPostgres(own.url(), { maxConnections: 1 });
  const [row] = await database.all('select pg_backend_pid() as id');
  await execute(own.url(), `select pg_terminate_backend(${String(row?.['id'])})`);
  await vi.waitFor(async () => {
    expect(await database.all('select 1 as n')).toEqual([{ n: 1 }]);
  });
  await database.close();
  expect((await errorOf(database.all('select 1'))).message).toBe('The store is closed');
});

test('who listens hears of others, not of itself, also after the connection broke', async () => {
  const proxy = await startFaultyProxy(own.url());
  const [here, there] = [await openPostgres(proxy.url), await openPostgres(own.url())];
  const heard: string[] = [];
  const stop = here.listen('one', (payload) => heard.push(payload));
  const stopOther = here.listen('two', (payload) => heard.push(`two ${payload}`));
  const notify = async (text: string): Promise<void> => {
    await vi.waitFor(
      async () => {
        await here.all("select pg_notify('one', 'itself')");
        await there.all("select pg_notify('one', $1), pg_notify('two', $1)", [text]);
        expect(heard).toEqual(expect.arrayContaining([text, `two ${text}`]));
      },
      { timeout: 10_000, interval: 20 },
    );
  };
  await notify('before');
  proxy.setOpen(false);
  proxy.setOpen(true);
  await notify('after');
  expect(heard).not.toContain('itself');
  stop();
  stopOther();
  await here.close();
  await there.close();
  await proxy.close();
}, 30_000);

test.each([
  ['', false],
  ['?sslmode=disable', false],
  ['?sslmode=allow', false],
  ['?sslmode=prefer', false],
  ['?sslmode=no-verify', true],
  ['?sslmode=require', true],
  ['?sslmode=verify-full', true],
  ['?sslmode=anything', true],
  ['?ssl=true', true],
  ['?ssl=1', true],
  ['?ssl=false', false],
  ['?ssl=true&sslmode=disable', false],
])('a URL that ends with %j asks for TLS: %s', async (ending, encrypted) => {
  const asked: number[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      asked.push(bytes.readInt32BE(4));
      socket.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const database = await openPostgres(`postgres://u:p@127.0.0.1:${port}/d${ending}`);
  expect(await errorOf(database.all('select 1'))).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await database.close();
  // The number of a request for TLS, and of version 3.0 of the protocol.
  expect(asked[0]).toBe(encrypted ? 80_877_103 : 196_608);
  await new Promise((closed) => server.close(closed));
});

test('a statement does not wait for transactions, however many there are', async () => {
  const database = await openPostgres(own.url(), { maxConnections: 3 });
  const gate = Promise.withResolvers<void>();
  const order: number[] = [];
  const transactions = Array.from({ length: 5 }, (_, index) =>
    database.transaction(async (inside) => {
      await inside.all('select 1');
      order.push(index);
      await gate.promise;
    }),
  );
  await vi.waitFor(() => expect(order).toEqual([0]));
  expect(await database.all('select 1 as one')).toEqual([{ one: 1 }]);
  gate.resolve();
  await Promise.all(transactions);
  expect(order).toEqual([0, 1, 2, 3, 4]);
  await database.close();
}, 30_000);

test(
  'a transaction without limits may take long for a statement, and not say nothing',
  { tags: ['long'] },
  async () => {
    const database = await openPostgres(own.url(), { statementMs: 50 });
    onTestFinished(() => database.close());
    const statement = (): Promise<unknown> =>
      database.transaction((inside) => inside.all('select pg_sleep(1.2)'), { isLimited: false });
    await statement();
    const silent = database.transaction(
      async (inside) => {
        await inside.all('select 1');
        await wait(1_500);
        await inside.all('select 1');
      },
      { isLimited: false },
    );
    expect(await errorOf(silent)).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  },
);

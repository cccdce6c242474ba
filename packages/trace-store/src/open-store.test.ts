import { OrionError, systemClock } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { openSqlite } from './engine/sqlite.ts';
import { openStore } from './open-store.ts';
import { startFaultyProxy } from './testing/faulty-proxy.ts';
import { execute, inDatabase, useTestDatabase } from './testing/test-database.ts';
import type { Store } from './open-store.ts';

const own = useTestDatabase();
const folder = mkdtempSync(join(tmpdir(), 'orion-open-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const clock = createFakeClock(1_000_000);

/** What each port answers when the database cannot be used. */
async function codesOf(store: Store): Promise<unknown[]> {
  const calls = [
    () => store.turnLog.acquire('turn', 1),
    () => store.turnLog.append('turn', 1, 1, [{ seq: 1, kind: 'chunk', data: null }]),
    () => store.turnLog.read('turn', 0),
    () => store.turnLog.epochOf('turn'),
    () =>
      store.turnLog.tail('turn', 0, new AbortController().signal)[Symbol.asyncIterator]().next(),
    () =>
      store.conversations.save({
        conversationId: 'c',
        projectId: 'p',
        history: [],
        from: 0,
        openSessionId: null,
        revision: 0,
      }),
    () => store.conversations.load('c'),
    () => store.conversations.list({ limit: 1 }),
    () => store.toolOutputs.find('id'),
    () => store.toolOutputs.read('id'),
    () => store.toolOutputs.list({}),
  ];
  return Promise.all(
    calls.map(async (call) => {
      try {
        await call();
        return null;
      } catch (error) {
        return OrionError.isInstance(error) ? error.code : error;
      }
    }),
  );
}

test('making a store does nothing; its first use makes the folder, the file and the schema', async () => {
  const path = join(folder, 'state', 'orion.db');
  const prepare = vi.fn(() => {
    mkdirSync(join(folder, 'state'));
    return Promise.resolve();
  });
  const store = openStore({ kind: 'sqlite', path }, { clock, prepare });
  expect(existsSync(path)).toBe(false);
  const [epoch, list] = await Promise.all([
    store.turnLog.epochOf('turn'),
    store.conversations.list({ limit: 1 }),
  ]);
  expect([epoch, list]).toEqual([0, []]);
  expect(prepare).toHaveBeenCalledOnce();
  await store.close();

  const unused = openStore({ kind: 'sqlite', path: join(folder, 'unused.db') }, { clock });
  await unused.close();
  expect(readdirSync(folder)).not.toContain('unused.db');
});

test('what was stored is there for the next process', async () => {
  const location = { kind: 'sqlite', path: join(folder, 'kept.db') } as const;
  const first = openStore(location, { clock: createFakeClock(Date.now()) });
  const { epoch } = await first.turnLog.acquire('turn', 3);
  await first.turnLog.append('turn', epoch, 1, [{ seq: 1, kind: 'chunk', data: 'x' }]);
  first.traces.record({ type: 'step', requestId: 'turn' });
  await first.close();
  const second = openStore(location, { clock });
  expect(await second.turnLog.epochOf('turn')).toBe(epoch);
  expect(await second.turnLog.read('turn', 0)).toHaveLength(1);
  expect(await second.traces.getTrace('turn')).toMatchObject([{ type: 'step' }]);
  await second.close();
});

test('a store that cannot be opened is a value at each caller’s hands, and no trace of it throws', async () => {
  const taken = join(folder, 'taken');
  writeFileSync(taken, '');
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  for (const location of [
    { kind: 'sqlite', path: join(taken, 'orion.db') },
    { kind: 'postgres', url: `postgres://user@127.0.0.1:${port}/database` },
    { kind: 'postgres', url: 'postgres://user@127.0.0.1:1/database' },
    { kind: 'postgres', url: 'nonsense' },
  ] as const) {
    const store = openStore(location, { clock });
    store.traces.record('step', { text: 'text' });
    const codes = await codesOf(store);
    expect(codes).toEqual(codes.map(() => 'STORE_UNAVAILABLE'));
    const closing = store.close();
    await clock.advance(10_000);
    await closing;
  }
  server.close();
});

test('a server that hangs does not hold up the end of the process', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `postgres://user@127.0.0.1:${port}/database`;
  const store = openStore({ kind: 'postgres', url }, { clock: systemClock });
  store.traces.record('step');
  const codes = codesOf(store);
  const start = performance.now();
  await new Promise((resolve) => server.once('connection', resolve));
  await store.close();
  expect(performance.now() - start).toBeLessThan(4_000);
  expect(await codes).toEqual((await codes).map(() => 'STORE_UNAVAILABLE'));
  expect(store.traces.dropped()).toBe(1);
  server.close();
}, 15_000);

test('a schema of a newer version is refused for good, and stays as it is', async () => {
  const path = join(folder, 'newer.db');
  const first = openStore({ kind: 'sqlite', path }, { clock });
  await first.turnLog.epochOf('turn');
  await first.close();
  const database = await openSqlite(path);
  await database.run("insert into schema_step (version, name) values (999, 'later')");
  await database.close();
  const store = openStore({ kind: 'sqlite', path }, { clock });
  const codes = await codesOf(store);
  expect(codes).toEqual(codes.map(() => 'STORE_TOO_NEW'));
  await store.close();
});

test('a store whose tables somebody took away is unavailable, and not a defect', async () => {
  const path = join(folder, 'robbed.db');
  const store = openStore({ kind: 'sqlite', path }, { clock });
  await store.turnLog.epochOf('turn');
  const database = await openSqlite(path);
  for (const table of [
    'turn',
    'turn_event',
    'conversation_message',
    'conversation',
    'tool_output',
    'tool_output_text',
  ]) {
    await database.run(`drop table ${table}`);
  }
  await database.close();
  const codes = await codesOf(store);
  expect(codes).toEqual(codes.map(() => 'STORE_UNAVAILABLE'));
  await store.close();
});

test('a database that comes back later is used then', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const late = join(folder, 'late');
  const store = openStore({ kind: 'sqlite', path: join(late, 'orion.db') }, { clock });
  const unavailable = { code: 'STORE_UNAVAILABLE' };
  await expect(store.turnLog.epochOf('turn')).rejects.toMatchObject(unavailable);
  mkdirSync(late);
  // Not at once, so that a database that is away costs little.
  await expect(store.turnLog.epochOf('turn')).rejects.toMatchObject(unavailable);
  vi.advanceTimersByTime(1_000);
  expect(await store.turnLog.epochOf('turn')).toBe(0);
  await store.close();
  vi.useRealTimers();
});

test('a closed store says so', async () => {
  const store = openStore({ kind: 'memory' }, { clock });
  await store.turnLog.acquire('turn', 1);
  await store.close();
  await store.close();
  const codes = await codesOf(store);
  expect(codes).toEqual(codes.map(() => 'STORE_UNAVAILABLE'));
});

test('who only reads makes nothing, and finds an empty store where there is none', async () => {
  const path = join(folder, 'not-there', 'orion.db');
  let prepared = 0;
  const prepare = (): Promise<void> => {
    prepared += 1;
    return Promise.resolve();
  };
  const name = `orion_test_${randomUUID().replaceAll('-', '')}`;
  await execute(own.url(), `create database ${name}`);
  const url = inDatabase(own.url(), name);
  for (const location of [
    { kind: 'sqlite', path },
    { kind: 'postgres', url },
  ] as const) {
    const store = openStore(location, { clock, create: false, prepare });
    expect(await store.conversations.list({ limit: 9 })).toEqual([]);
    expect(await store.conversations.load('c')).toBeNull();
    expect(await store.traces.query({})).toEqual([]);
    expect(await store.traces.getTrace('r')).toEqual([]);
    for await (const event of store.traces.scan({})) expect(event).toBeUndefined();
    expect(await store.turnLog.read('t', 0)).toEqual([]);
    expect(await store.toolOutputs.find('o')).toBeNull();
    await expect(store.turnLog.acquire('t', 1)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'The store was opened for reading',
      retryable: false,
    });
    await store.close();
  }
  expect(existsSync(join(folder, 'not-there'))).toBe(false);
  expect(await execute(url, "select 1 from pg_tables where schemaname = 'public'")).toEqual([]);
  expect(prepared).toBe(0);
  await execute(own.url(), `drop database ${name} with (force)`);

  const there = join(folder, 'there.db');
  const writer = openStore({ kind: 'sqlite', path: there }, { clock });
  const { epoch } = await writer.turnLog.acquire('t', 1);
  const reader = openStore({ kind: 'sqlite', path: there }, { clock, create: false });
  expect(await reader.turnLog.epochOf('t')).toBe(epoch);
  await reader.close();
  await writer.close();
});

test('a close that is cut does not wait for a server that hangs, opened or not', async () => {
  const proxy = await startFaultyProxy(own.url());
  const opened = openStore({ kind: 'postgres', url: proxy.url }, { clock });
  await opened.turnLog.epochOf('turn');
  proxy.arm('hang', 'insert into turn ');
  const hanging = codeOf(opened.turnLog.acquire('turn', 1));
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  const { port } = silent.address() as AddressInfo;
  const url = `postgres://user@127.0.0.1:${port}/database`;
  const opening = openStore({ kind: 'postgres', url }, { clock });
  const connected = new Promise((resolve) => silent.once('connection', resolve));
  const waiting = codeOf(opening.turnLog.acquire('turn', 1));
  await connected;

  // Timers stand still, and nothing answers: only the cut can end this, or the server itself after ten seconds.
  const before = performance.now();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  for (const store of [opened, opening]) {
    store.traces.record('step');
    const cut = new AbortController();
    const closing = store.close(cut.signal);
    cut.abort();
    await closing;
    expect(store.traces.dropped()).toBe(1);
  }
  expect(await hanging).toBe('STORE_UNAVAILABLE');
  expect(await waiting).toBe('STORE_UNAVAILABLE');
  vi.useRealTimers();
  expect(performance.now() - before).toBeLessThan(5_000);
  silent.close();
  await proxy.close();
}, 20_000);

test('whoever opens a store sees every attempt to use it, and a refusal as an answer', async () => {
  const seen: string[] = [];
  const store = openStore(
    { kind: 'memory' },
    {
      clock,
      observe: (attempt, kind) => {
        attempt.then(
          () => seen.push(`${kind} answered`),
          () => seen.push(`${kind} failed`),
        );
      },
    },
  );
  await store.turnLog.acquire('turn', 2);
  expect(seen.slice(0, 2)).toEqual(['opening answered', 'call answered']);
  await expect(store.turnLog.acquire('turn', 1)).rejects.toMatchObject({ code: 'FENCED' });
  expect(new Set(seen)).toEqual(new Set(['opening answered', 'call answered']));
  await store.close();

  const away = openStore(
    { kind: 'sqlite', path: join(folder, 'missing', 'orion.db') },
    {
      clock,
      observe: (attempt, kind) => {
        attempt.catch(() => seen.push(`${kind} failed`));
      },
    },
  );
  await expect(away.turnLog.epochOf('turn')).rejects.toThrow('SQLite');
  await expect(away.turnLog.epochOf('turn')).rejects.toThrow('SQLite');
  // The second was no attempt.
  expect(seen.filter((each) => each.endsWith('failed'))).toEqual(['opening failed']);
  await away.close();
});

function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => null,
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}

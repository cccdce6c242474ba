import { OrionError } from '@orion/contracts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLazyDatabase } from './lazy-database.ts';
import type { DatabaseObserver, OpeningSignals } from './lazy-database.ts';
import { RolledBack, SqlRefusedError, storeUnavailable } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Hazard: a database that is away is asked for each call, or one that came back is never asked again. */

let now = 0;
beforeEach(() => {
  now = 5_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function fakeDatabase() {
  const calls: unknown[][] = [];
  const database: SqlDatabase = {
    dialect: 'sqlite',
    async run(...call) {
      calls.push(['run', ...call]);
      if (call[0] === 'refused') throw new SqlRefusedError('1', 'refused');
      if (call[0] === 'away') throw storeUnavailable('away', { retryable: true });
      return 7;
    },
    all: async (...call) => {
      calls.push(['all', ...call]);
      return [{ n: 1 }];
    },
    transaction: (work) => work(database),
    listen(...call) {
      calls.push(['listen', ...call]);
      return () => calls.push(['stop']);
    },
    takeLock: () => Promise.resolve(null),
    async close(cut) {
      calls.push(['close', cut?.aborted]);
    },
  };
  return { calls, database };
}

function observed() {
  const attempts: string[] = [];
  const observe: DatabaseObserver = (attempt, kind) => {
    attempt.then(
      () => attempts.push(`${kind} answered`),
      () => attempts.push(`${kind} failed`),
    );
  };
  return { attempts, observe };
}

test('it is opened once, by its first use, and every call goes to it', async () => {
  const { calls, database } = fakeDatabase();
  const { attempts, observe } = observed();
  const open = vi.fn(async () => database);
  const lazy = createLazyDatabase('postgres', open, observe);
  expect([lazy.dialect, open.mock.calls.length]).toEqual(['postgres', 0]);
  const answers = Promise.all([lazy.run('a', [1]), lazy.all('b', [2])]);
  expect(await answers).toEqual([7, [{ n: 1 }]]);
  expect(await lazy.transaction((inside) => inside.all('c'))).toEqual([{ n: 1 }]);
  await expect(lazy.run('refused')).rejects.toBeInstanceOf(SqlRefusedError);
  const undo = (): Promise<never> => Promise.reject(new RolledBack('undone'));
  await expect(lazy.transaction(undo)).rejects.toBeInstanceOf(RolledBack);
  await expect(lazy.run('away')).rejects.toThrow('away');
  expect(open).toHaveBeenCalledOnce();
  expect(calls.slice(0, 3)).toEqual([
    ['run', 'a', [1]],
    ['all', 'b', [2]],
    ['all', 'c'],
  ]);
  // A statement that is refused was answered, and so was a transaction that undid itself.
  expect(attempts).toEqual([
    'opening answered',
    ...Array.from({ length: 5 }, () => 'call answered'),
    'call failed',
  ]);
  await lazy.close();
});

test('a failure is the answer for a second, then it is tried again', async () => {
  const { database } = fakeDatabase();
  const { attempts, observe } = observed();
  const open = vi.fn(async (): Promise<SqlDatabase> => {
    // oxlint-disable-next-line no-throw-literal, only-throw-error -- whatever a driver throws
    if (open.mock.calls.length === 1) throw 'away';
    return database;
  });
  const lazy = createLazyDatabase('sqlite', open, observe);
  await expect(lazy.run('a')).rejects.toBe('away');
  now += 999;
  await expect(lazy.run('a')).rejects.toThrow('away');
  expect(open).toHaveBeenCalledOnce();
  now += 1;
  expect(await lazy.run('a')).toBe(7);
  expect(attempts).toEqual(['opening failed', 'opening answered', 'call answered']);
});

test('a schema that is too new stays so', async () => {
  const open = vi.fn(async (): Promise<SqlDatabase> => {
    throw new OrionError({ code: 'STORE_TOO_NEW', message: 'too new' });
  });
  const lazy = createLazyDatabase('sqlite', open);
  for (let call = 0; call < 3; call += 1) {
    await expect(lazy.run('a')).rejects.toThrow('too new');
    now += 10_000;
  }
  expect(open).toHaveBeenCalledOnce();
});

test('who listens hears once it is open, and not when that was called off before', async () => {
  const { calls, database } = fakeDatabase();
  const opening = Promise.withResolvers<SqlDatabase>();
  const lazy = createLazyDatabase('postgres', () => opening.promise);
  const heard = (): void => undefined;
  const stop = lazy.listen('one', heard);
  lazy.listen('two', heard)();
  opening.resolve(database);
  await lazy.run('a');
  stop();
  expect(calls).toEqual([['listen', 'one', heard], ['run', 'a', undefined], ['stop']]);
  const failing = createLazyDatabase('postgres', () => Promise.reject(new Error('away')));
  failing.listen('one', heard)();
});

test('closing ends what is being opened, by its signals, and every later call', async () => {
  const { calls, database } = fakeDatabase();
  const opening = Promise.withResolvers<SqlDatabase>();
  let signals: OpeningSignals | null = null;
  const lazy = createLazyDatabase('sqlite', (given) => {
    signals = given;
    return opening.promise;
  });
  const states = () => [signals?.closing.aborted, signals?.cut.aborted];
  const call = lazy.run('a').catch((error: unknown) => error);
  expect(states()).toEqual([false, false]);
  const cut = new AbortController();
  const closing = lazy.close(cut.signal);
  expect(states()).toEqual([true, false]);
  const again = lazy.close(AbortSignal.abort());
  expect(states()).toEqual([true, true]);
  opening.resolve(database);
  await Promise.all([call, closing, again]);
  expect(calls.filter(([name]) => name === 'close')).toEqual([['close', true]]);
  await expect(lazy.run('a')).rejects.toThrow('The store is closed');
  const unused = createLazyDatabase('sqlite', () => Promise.reject(new Error('opened')));
  await unused.close();
});

import { expect, test } from 'vitest';

import { reportRefusals } from './reported-database.ts';
import { SqlRefusedError } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

test('what a database refuses is a store that cannot be used; everything else is as it was', async () => {
  const calls: unknown[] = [];
  let failure: Error | null = null;
  const answer = async (...call: unknown[]): Promise<never> => {
    calls.push(call);
    if (failure !== null) throw failure;
    return 'answer' as never;
  };
  const database = {
    dialect: 'sqlite',
    run: (...call) => answer('run', ...call),
    all: (...call) => answer('all', ...call),
    transaction: (...call) => answer('transaction', ...call),
    listen: (...call) => {
      calls.push(['listen', ...call]);
      return () => undefined;
    },
    takeLock: () => answer('takeLock'),
    close: (...call) => answer('close', ...call),
  } satisfies SqlDatabase as SqlDatabase;
  const reported = reportRefusals(database);
  const work = async (): Promise<void> => undefined;
  const heard = (): void => undefined;
  const cut = new AbortController().signal;
  expect(reported.dialect).toBe('sqlite');
  expect(await reported.run('a', [1])).toBe('answer');
  expect(await reported.all('b', [2])).toBe('answer');
  expect(await reported.transaction(work, { isLimited: false })).toBe('answer');
  expect(await reported.takeLock()).toBe('answer');
  reported.listen('c', heard);
  expect(await reported.close(cut)).toBe('answer');
  expect(calls).toEqual([
    ['run', 'a', [1]],
    ['all', 'b', [2]],
    ['transaction', work, { isLimited: false }],
    ['takeLock'],
    ['listen', 'c', heard],
    ['close', cut],
  ]);
  failure = new SqlRefusedError('42P01', 'no such table');
  for (const call of [
    () => reported.run('a'),
    () => reported.all('a'),
    () => reported.transaction(work),
  ]) {
    await expect(call()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('no such table') as string,
      retryable: false,
      details: { reason: '42P01' },
    });
  }
  failure = new Error('a defect');
  await expect(reported.run('a')).rejects.toBe(failure);
});

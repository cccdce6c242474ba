import { OrionError } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';

import { repeated, resumed } from './repeated.ts';

/** Hazard: what is asked while the store is away is cut, doubled, or given up before a failover is over. */

const WHOLE = Buffer.from('abcdefghij');

/** Two bytes at a time; before each piece that `breaks` names, it fails once. */
function reading(breaks: readonly number[], retryable: boolean) {
  const left = new Set(breaks);
  return async function* (from: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = from; at < WHOLE.length; at += 2) {
      if (left.delete(at))
        throw new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable });
      yield WHOLE.subarray(at, at + 2);
    }
  };
}

test('a read goes on behind what has come, as often as the store is away', async () => {
  const clock = createFakeClock();
  const pieces: Uint8Array[] = [];
  const reader = (async () => {
    for await (const piece of resumed(clock, 2, reading([2, 6, 8], true))) pieces.push(piece);
    return 'over';
  })();
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return Promise.race([reader, Promise.resolve('reads')]);
    })
    .toBe('over');
  expect(Buffer.concat(pieces).toString()).toBe('cdefghij');
});

test('what the store refuses is not asked for again', async () => {
  const clock = createFakeClock();
  const refused = resumed(clock, 0, reading([0], false));
  await expect(refused.next()).rejects.toThrow('away');
});

test.each([
  [59, 'done'],
  [61, 'away'],
])('of an outage of %i s, one of a minute is waited for', async (seconds, end) => {
  const clock = createFakeClock();
  const away = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });
  const step = (): Promise<string> =>
    clock.monotonic() < seconds * 1_000 ? Promise.reject(away) : Promise.resolve('done');
  const outcome = repeated(clock, step).catch((error: unknown) => (error as Error).message);
  for (let passed = 0; passed < 70; passed += 1) await clock.advance(1_000);
  expect(await outcome).toBe(end);
});

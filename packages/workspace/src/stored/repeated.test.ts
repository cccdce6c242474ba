import { OrionError } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';

import { resumed } from './repeated.ts';

/** Hazard: a text that is read while the store is away for a moment is cut, doubled, or given up. */

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

import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { TurnClock } from './turn-clock.ts';

/** Hazard: what a person takes to decide uses up the time of a turn, or the turn has no limit after it. */

it('stands still, with its timers, until all that it waits for is over', async () => {
  const outer = createFakeClock();
  const clock = new TurnClock(outer);
  const rung: string[] = [];
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  await outer.advance(10);
  clock.schedule(100, () => rung.push('before'));
  const cancel = clock.schedule(100, () => rung.push('cancelled'));
  await outer.advance(40);
  const waits = [
    clock.standStill(() => first.promise),
    expect(clock.standStill(() => second.promise)).rejects.toThrow('no'),
  ];
  clock.schedule(70, () => rung.push('meanwhile'));
  await outer.advance(3_600_000);
  first.resolve();
  await outer.advance(1_000);
  cancel();
  expect({ time: clock.monotonic(), rung, pending: outer.pending() }).toEqual({
    time: 50,
    rung: [],
    pending: 0,
  });
  expect(clock.now()).toBe(outer.now());
  second.reject(new Error('no'));
  await Promise.all(waits);
  await outer.advance(59);
  expect(rung).toEqual([]);
  await outer.advance(1);
  expect(rung).toEqual(['before']);
  await outer.advance(10);
  expect(rung).toEqual(['before', 'meanwhile']);
  expect(clock.monotonic()).toBe(120);
  await clock.standStill(() => outer.advance(1_000));
  expect({ time: clock.monotonic(), rung, pending: outer.pending() }).toEqual({
    time: 120,
    rung: ['before', 'meanwhile'],
    pending: 0,
  });
});

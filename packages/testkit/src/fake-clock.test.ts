import { expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';

test('runs due timers by time, then by order of making', async () => {
  const clock = createFakeClock(1000);
  const seen: string[] = [];
  clock.schedule(20, () => seen.push(`late ${clock.now()}`));
  clock.schedule(10, () => seen.push(`first ${clock.monotonic()}`));
  clock.schedule(10, () => seen.push('second'));
  await clock.advance(10);
  expect(seen).toEqual(['first 10', 'second']);
  expect(clock.pending()).toBe(1);
  await clock.advance(10);
  expect(seen).toEqual(['first 10', 'second', 'late 1020']);
});

test('lets promises settle between timers, so that a chain of waits runs in one advance', async () => {
  const clock = createFakeClock();
  const seen: number[] = [];
  const wait = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      clock.schedule(milliseconds, resolve);
    });
  const loop = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await wait(100);
      seen.push(clock.monotonic());
    }
  };
  const done = loop();
  await clock.advance(250);
  expect(seen).toEqual([100, 200]);
  await clock.advance(50);
  await done;
  expect(seen).toEqual([100, 200, 300]);
});

test('a cancelled timer never runs, and cancelling twice is allowed', async () => {
  const clock = createFakeClock();
  const cancel = clock.schedule(5, () => {
    throw new Error('must not run');
  });
  cancel();
  cancel();
  await clock.advance(10);
  expect(clock.pending()).toBe(0);
});

test('a jump moves the wall clock and no timer', async () => {
  const clock = createFakeClock(0);
  let ran = false;
  clock.schedule(10, () => {
    ran = true;
  });
  clock.jump(-5000);
  await clock.advance(9);
  expect([clock.now(), clock.monotonic(), ran]).toEqual([-4991, 9, false]);
});

test('an error of a timer reaches the test and later timers stay', async () => {
  const clock = createFakeClock();
  clock.schedule(1, () => {
    throw new Error('broken timer');
  });
  clock.schedule(2, () => {});
  await expect(clock.advance(5)).rejects.toThrow('broken timer');
  expect(clock.pending()).toBe(1);
});

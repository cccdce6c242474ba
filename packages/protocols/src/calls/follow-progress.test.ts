import type { ToolProgress } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';

import { followProgress } from './follow-progress.ts';

/** Hazard: a tool that reports more than anybody reads holds its turn up, or its reports outlive it. */

test('yields what a tool reports while it runs, and returns its result', async () => {
  const clock = createFakeClock();
  const end = Promise.withResolvers<string>();
  let report: (progress: ToolProgress) => void = () => undefined;
  const followed = followProgress(clock, (given) => {
    report = given;
    return end.promise;
  });
  const first = followed.next();
  report({ message: 'a', done: 1, total: 2 });
  expect(await first).toEqual({ done: false, value: { message: 'a', done: 1, total: 2 } });
  const second = followed.next();
  await clock.advance(199);
  report({ message: 'too soon' });
  await clock.advance(1);
  report({ message: 'b' });
  expect((await second).value).toEqual({ message: 'b' });
  const last = followed.next();
  end.resolve('result');
  expect(await last).toEqual({ done: true, value: 'result' });
});

test('keeps the latest report for a slow reader, and none after the end', async () => {
  const clock = createFakeClock();
  const end = Promise.withResolvers<void>();
  let report: (progress: ToolProgress) => void = () => undefined;
  const followed = followProgress(clock, (given) => {
    report = given;
    report({ message: '', done: 0 });
    return end.promise;
  });
  expect((await followed.next()).value).toEqual({ message: '', done: 0 });
  // Nobody asks for more while these come.
  for (let done = 1; done <= 100; done += 1) {
    await clock.advance(200);
    report({ message: '', done });
  }
  expect((await followed.next()).value).toEqual({ message: '', done: 100 });
  await clock.advance(200);
  report({ message: 'late' });
  end.resolve();
  await end.promise;
  expect((await followed.next()).done).toBe(true);
});

test('rejects as the tool does', async () => {
  const followed = followProgress(createFakeClock(), () => Promise.reject(new Error('no')));
  await expect(followed.next()).rejects.toThrow('no');
});

test('waits for the tool when its reader goes', async () => {
  const clock = createFakeClock();
  const end = Promise.withResolvers<void>();
  const followed = followProgress(clock, (report) => {
    report({ message: 'a' });
    return end.promise;
  });
  await followed.next();
  let isOver = false;
  const returned = followed.return(undefined).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  end.resolve();
  await returned;
});

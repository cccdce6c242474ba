import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { createWakeUps } from './wake-ups.ts';
import type { WakeUps } from './wake-ups.ts';

/** Hazard: a reader that sleeps through news, or a database that is listened to for nobody. */

function opened() {
  const clock = createFakeClock();
  const log: string[] = [];
  let tell: ((turnId: string) => void) | null = null;
  const wakeUps = createWakeUps({
    clock,
    sweepMs: 1_000,
    listen: (wake) => {
      log.push('listens');
      tell = wake;
      return () => log.push('stops');
    },
  });
  const wait = (name: string, watcher: ReturnType<WakeUps['watch']>, signal?: AbortSignal) =>
    watcher.wait(signal ?? new AbortController().signal).then(() => log.push(name));
  return { clock, log, wakeUps, wait, tell: (turnId: string) => tell?.(turnId) };
}

it('wakes every watcher of a turn, and no other', async () => {
  const { log, wakeUps, wait } = opened();
  const [one, two, other] = [wakeUps.watch('a'), wakeUps.watch('a'), wakeUps.watch('b')];
  const waits = [wait('one', one), wait('two', two)];
  void wait('other', other);
  wakeUps.wake('a');
  wakeUps.wake('c');
  await Promise.all(waits);
  expect(log).toEqual(['listens', 'one', 'two']);
});

it('does not lose what is told between two waits, and tells it once', async () => {
  const { clock, log, wakeUps, wait, tell } = opened();
  const watcher = wakeUps.watch('a');
  tell('a');
  tell('a');
  await wait('at once', watcher);
  const later = wait('after the sweep', watcher);
  await clock.advance(999);
  expect(log).toEqual(['listens', 'at once']);
  await clock.advance(1);
  await later;
  expect(log).toEqual(['listens', 'at once', 'after the sweep']);
  // What came after the sweep is news again.
  tell('a');
  await wait('again', watcher);
});

it('ends a wait that is called off, and one that was called off before', async () => {
  const { clock, log, wakeUps, wait } = opened();
  const watcher = wakeUps.watch('a');
  const stop = new AbortController();
  const waiting = wait('called off', watcher, stop.signal);
  stop.abort();
  await waiting;
  await wait('called off before', watcher, stop.signal);
  expect(log).toEqual(['listens', 'called off', 'called off before']);
  // Nothing is left to fire.
  await clock.advance(5_000);
  const next = wait('next', watcher);
  await clock.advance(999);
  expect(log).toHaveLength(3);
  await clock.advance(1);
  await next;
});

it('listens from the first watcher to the last, and anew after that', () => {
  const { log, wakeUps } = opened();
  const watchers = [wakeUps.watch('a'), wakeUps.watch('a'), wakeUps.watch('b')];
  for (const watcher of watchers.slice(0, 2)) watcher.stop();
  expect(log).toEqual(['listens']);
  const again = wakeUps.watch('a');
  // Stopped twice it takes nothing from those that came since.
  watchers[0]?.stop();
  watchers[2]?.stop();
  expect(log).toEqual(['listens']);
  again.stop();
  expect(log).toEqual(['listens', 'stops']);
  again.stop();
  expect(log).toEqual(['listens', 'stops']);
  wakeUps.watch('a').stop();
  expect(log).toEqual(['listens', 'stops', 'listens', 'stops']);
});

import type { TraceEvent } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createMemoryTraceStore } from './memory-trace-store.ts';

const clock = createFakeClock(0);

test('keeps the newest events in order and counts those it drops', async () => {
  for (const maxEvents of [1, 2, 3, 5]) {
    for (const recorded of [0, 1, 2, 3, 4, 5, 9, 11]) {
      const store = createMemoryTraceStore({ clock, maxEvents });
      for (let number = 1; number <= recorded; number++) store.record('step', { number });
      const kept = (await store.query({})).map((event) => event.id);
      const first = Math.max(1, recorded - maxEvents + 1);
      const expected = Array.from({ length: recorded - first + 1 }, (_, index) => first + index);
      expect(kept).toEqual(expected);
      expect(store.dropped()).toBe(recorded - kept.length);
    }
  }
});

test('an event does not change with the object that it was made of', async () => {
  const store = createMemoryTraceStore({ clock });
  const details = { list: [1] };
  store.record('step', details);
  details.list.push(2);
  expect(await store.query({})).toMatchObject([{ details: { list: [1] } }]);
});

test('an observer sees stored events, and its failure stays its own', async () => {
  const seen: TraceEvent[] = [];
  const store = createMemoryTraceStore({
    clock,
    onEvent(event) {
      seen.push(event);
      throw new Error('observer');
    },
  });
  store.record('step', { token: 'abcdef' });
  expect(seen).toEqual(await store.query({}));
  expect(seen).toMatchObject([{ details: { token: '[REDACTED]' } }]);
  expect(store.dropped()).toBe(0);
});

test('a failing clock and a closed store drop the event; strict makes both fatal', async () => {
  const broken = {
    now: (): number => {
      throw new Error('no clock');
    },
  };
  const lenient = createMemoryTraceStore({ clock: broken });
  lenient.record('step');
  expect(lenient.dropped()).toBe(1);
  expect(() => createMemoryTraceStore({ clock: broken, strict: true }).record('step')).toThrow(
    'no clock',
  );

  const store = createMemoryTraceStore({ clock });
  store.record('kept');
  await store.close();
  store.record('late');
  expect([store.dropped(), (await store.query({})).length]).toEqual([1, 1]);
});

test('the first drop is told of, once (R228)', async () => {
  const told: string[] = [];
  const full = createMemoryTraceStore({
    clock,
    maxEvents: 1,
    onFirstDrop: (why) => told.push(why),
  });
  for (let number = 0; number < 5; number++) full.record('step');
  expect([told, full.dropped()]).toEqual([['more than 1 events'], 4]);

  const closed = createMemoryTraceStore({
    clock,
    onFirstDrop: () => {
      throw new Error('observer');
    },
  });
  await closed.close();
  closed.record('late');
  closed.record('later');
  expect(closed.dropped()).toBe(2);
});

test('refuses a limit that would keep nothing', () => {
  for (const maxEvents of [0, -1, Number.NaN, 1.5]) {
    expect(() => createMemoryTraceStore({ clock, maxEvents })).toThrow('maxEvents');
  }
});

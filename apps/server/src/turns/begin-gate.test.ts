import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { BeginGate } from './begin-gate.ts';

/** Hazard: a burst of turns that begin holds up those that run, or a turn that cannot begin keeps all others from it. */

function openGate() {
  const clock = createFakeClock();
  let cleared = 0;
  const gate = new BeginGate({ clock, onClear: () => (cleared += 1) });
  const inside: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = (name: string): void => {
    void gate.enter().then((leave) => {
      inside.push(name);
      leaves.set(name, leave);
    });
  };
  const leave = (name: string): void => leaves.get(name)?.();
  return { clock, gate, inside, enter, leave, cleared: () => cleared };
}

it('lets three begin, and one more in their order for each that has begun', async () => {
  const { clock, gate, inside, enter, leave } = openGate();
  for (const name of 'abcdef') enter(name);
  await clock.advance(0);
  expect(inside).toEqual(['a', 'b', 'c']);
  leave('b');
  await clock.advance(0);
  expect(inside).toEqual(['a', 'b', 'c', 'd']);
  // Once is enough.
  leave('b');
  await clock.advance(0);
  expect([inside.at(-1), gate.isCrowded]).toEqual(['d', true]);
});

it('says when nobody waits any more, and not before', async () => {
  const { clock, gate, enter, leave, cleared } = openGate();
  for (const name of 'abcde') enter(name);
  await clock.advance(0);
  leave('a');
  await clock.advance(0);
  expect([gate.isCrowded, cleared()]).toEqual([true, 0]);
  leave('b');
  await clock.advance(0);
  expect([gate.isCrowded, cleared()]).toEqual([false, 1]);
  for (const name of 'cde') leave(name);
  expect([cleared(), clock.pending()]).toEqual([1, 0]);
});

it('lets the next ones begin when a turn takes longer than 200 ms', async () => {
  const { clock, inside, enter, leave } = openGate();
  for (const name of 'abcdefg') enter(name);
  await clock.advance(199);
  expect(inside).toHaveLength(3);
  await clock.advance(1);
  expect(inside).toHaveLength(6);
  // Their places are taken: that they begin after all makes no room.
  for (const name of 'abc') leave(name);
  await clock.advance(0);
  expect(inside).toHaveLength(6);
});

it('has room for three again after a crowd', async () => {
  const { clock, gate, inside, enter, leave } = openGate();
  for (const name of 'abcde') enter(name);
  await clock.advance(0);
  for (const name of 'abc') leave(name);
  await clock.advance(0);
  for (const name of 'de') leave(name);
  for (const name of 'fghi') enter(name);
  await clock.advance(0);
  expect([inside.join(''), gate.isCrowded]).toEqual(['abcdefgh', true]);
});

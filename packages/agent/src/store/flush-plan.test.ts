import { expect, it } from 'vitest';

import { flushInterval, turnsToAsk } from './flush-plan.ts';

/** Hazard: a busy process stores each piece of text by itself, or a turn waits longer the more others there are. */

it('flushes every 33 ms, and asks for text every 250 ms while a statement is under way', () => {
  expect(flushInterval({ isStoring: false })).toBe(33);
  expect(flushInterval({ isStoring: true })).toBe(250);
});

it.each([
  ['nobody', 0, 33, 0],
  ['nobody, ever', 0, Number.POSITIVE_INFINITY, 0],
  ['one turn', 1, 33, 1],
  ['few turns together', 100, 33, 100],
  ['a hundred of more', 101, 33, 100],
  ['a hundred of 300', 300, 33, 100],
  ['a third of many', 400, 33, 132],
  ['all of them after 100 ms', 400, 100, 400],
  ['a smaller part of more', 800, 33, 132],
  ['more of them the later it is', 800, 100, 400],
  ['all of them after 200 ms', 800, 200, 800],
  ['all of very many after 250 ms', 4_000, 250, 4_000],
  ['and not sooner', 4_000, 125, 2_000],
  ['all of them after a pause', 1_000, 5_000, 1_000],
  ['all of them for the first time', 1_000, Number.POSITIVE_INFINITY, 1_000],
])('asks %s', (_, turns, elapsedMs, asked) => {
  expect(turnsToAsk(turns, elapsedMs)).toBe(asked);
});

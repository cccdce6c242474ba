import { expect, test } from 'vitest';
import { TraceQueue } from './trace-queue.ts';

const row = (uid: string, bytes = 10) => ({ values: [uid], bytes });

test('rows leave in the order in which they came', () => {
  const queue = new TraceQueue(10, 1_000);
  for (const uid of ['a', 'b', 'c', 'd']) expect(queue.push(row(uid))).toBe(true);
  expect(queue.peek(2)).toEqual([row('a'), row('b')]);
  expect([queue.size, queue.removed]).toEqual([4, 0]);
  queue.remove(3);
  expect([queue.size, queue.removed, queue.peek(5)]).toEqual([1, 3, [row('d')]]);
  queue.remove(9);
  expect([queue.size, queue.removed, queue.peek(5)]).toEqual([0, 4, []]);
});

test('as many rows fit as there may be, and not one more', () => {
  const queue = new TraceQueue(2, 1_000);
  expect([queue.isFull, queue.push(row('a'))]).toEqual([false, true]);
  expect([queue.isFull, queue.push(row('b'))]).toEqual([false, true]);
  expect([queue.isFull, queue.push(row('c'))]).toEqual([true, false]);
  queue.remove(1);
  expect([queue.isFull, queue.push(row('c'))]).toEqual([false, true]);
});

test('as many bytes fit as there may be, and not one more', () => {
  const queue = new TraceQueue(10, 20);
  expect(queue.push(row('a', 11))).toBe(true);
  expect([queue.isFull, queue.push(row('b', 10))]).toEqual([false, false]);
  expect([queue.push(row('b', 9)), queue.isFull]).toEqual([true, true]);
  queue.remove(1);
  expect([queue.isFull, queue.push(row('c', 11)), queue.isFull]).toEqual([false, true, true]);
});

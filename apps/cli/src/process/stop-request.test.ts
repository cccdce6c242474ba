// Hazard: a server that cannot be ended, or that is ended by one request which arrives as several signals.
import { EventEmitter } from 'node:events';

import { expect, it, vi } from 'vitest';

import { watchStop } from './stop-request.ts';

function watched() {
  const source = new EventEmitter();
  const leave = vi.fn<() => void>();
  const cut = vi.fn<() => void>();
  let time = 0;
  const stop = watchStop({ leave, now: () => time, source: source as unknown as NodeJS.Process });
  const send = (signal: NodeJS.Signals, after: number): readonly number[] => {
    time += after;
    source.emit(signal, signal);
    return [cut.mock.calls.length, leave.mock.calls.length];
  };
  return { stop, cut, source, send };
}

it('the first signal asks, the second cuts short what is waited for, the third ends the process', async () => {
  const { stop, cut, send } = watched();
  expect(send('SIGTERM', 0)).toEqual([0, 0]);
  await expect(stop.asked).resolves.toBe('SIGTERM');
  stop.cutNext(cut);
  expect(send('SIGINT', 1_000)).toEqual([1, 0]);
  expect(send('SIGINT', 1_000)).toEqual([1, 1]);
});

it.each([
  ['before there is anything to be cut short', () => undefined],
  [
    'after there was',
    ({ stop, cut }: ReturnType<typeof watched>) => {
      stop.cutNext(cut);
      stop.cutNext(null);
    },
  ],
])('the second one ends the process %s', (_, prepare) => {
  const all = watched();
  all.send('SIGINT', 0);
  prepare(all);
  expect(all.send('SIGINT', 500)).toEqual([0, 1]);
});

it('signals that come within half a second are one request', () => {
  const { stop, cut, send } = watched();
  send('SIGHUP', 0);
  stop.cutNext(cut);
  expect(send('SIGTERM', 499)).toEqual([0, 0]);
  expect(send('SIGTERM', 1)).toEqual([1, 0]);
  expect(send('SIGTERM', 499)).toEqual([1, 0]);
});

it('hears nothing more once it is disposed', () => {
  const { stop, source, send } = watched();
  send('SIGINT', 0);
  stop.dispose();
  expect(send('SIGINT', 1_000)).toEqual([0, 0]);
  expect(source.eventNames()).toEqual([]);
});

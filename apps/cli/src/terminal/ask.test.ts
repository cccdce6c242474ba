import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { createFakeContext } from '../testing/fake-context.ts';
import { askApproval, askForLine, confirm } from './ask.ts';
import type { Asker } from './ask.ts';

/** The real terminal is in tools/e2e/typed-ahead.test.ts; here is what depends on the time between two characters. */

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

class TypedTerminal extends PassThrough {
  readonly isTTY = true;
  isRaw = false;
  setRawMode(raw: boolean): this {
    this.isRaw = raw;
    return this;
  }
}

function terminal() {
  const context = createFakeContext({ terminal: true });
  const typed = new TypedTerminal();
  const asker: Asker = { screen: context.screen, stdin: typed as unknown as NodeJS.ReadStream };
  return { asker, typed, shown: () => context.stderr.written() };
}

const never = new AbortController().signal;

it('asks 100 ms after the last character', async () => {
  const { asker, typed, shown } = terminal();
  const answer = askForLine(asker, 'Now? ', never);
  for (let count = 0; count < 50; count += 1) {
    await vi.advanceTimersByTimeAsync(60);
    typed.write('y\n');
  }
  await vi.advanceTimersByTimeAsync(99);
  expect([shown(), typed.isRaw]).toEqual(['', true]);
  await vi.advanceTimersByTimeAsync(1);
  expect([shown(), typed.isRaw]).toEqual(['Now? ', false]);
  typed.write('the answer\n');
  expect(await answer).toBe('the answer');
});

it('is not asked, and gives the terminal back, when the turn ends first', async () => {
  const { asker, typed, shown } = terminal();
  const turn = new AbortController();
  const answer = askForLine(asker, 'Now? ', turn.signal);
  const rejected = expect(answer).rejects.toThrow('over');
  await vi.advanceTimersByTimeAsync(50);
  turn.abort(new Error('over'));
  await rejected;
  expect([shown(), typed.isRaw, typed.isPaused()]).toEqual(['', false, true]);
  expect(typed.listenerCount('data')).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('is not asked before the terminal has taken what the question is about', async () => {
  const { asker, typed, shown } = terminal();
  const taken = Promise.withResolvers<void>();
  const screen = { ...asker.screen, flush: () => taken.promise };
  const answer = askForLine({ ...asker, screen }, 'Now? ', never);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(shown()).toBe('');
  taken.resolve();
  await vi.advanceTimersByTimeAsync(100);
  typed.write('y\n');
  expect(await answer).toBe('y');
});

it('takes lines that were piped to it as they are', async () => {
  const { screen, typed, stdin } = createFakeContext({ terminal: false });
  typed.write('perhaps\n');
  const answer = askApproval({ screen, stdin }, 'Now?', {}, never);
  await vi.advanceTimersByTimeAsync(0);
  typed.end('y\n');
  expect(await answer).toEqual({ approved: true });
});

it('takes no answer at all for a no', async () => {
  for (const [lines, isYes] of [
    ['', false],
    ['yes', true],
    ['no\n', false],
  ] as const) {
    const { screen, typed, stdin } = createFakeContext({ terminal: false });
    const answer = confirm({ screen, stdin }, 'Now?', never);
    await vi.advanceTimersByTimeAsync(0);
    typed.end(lines);
    expect(await answer).toBe(isYes);
    // Nor later, when the input has ended already.
    expect(await confirm({ screen, stdin }, 'Now?', never)).toBe(false);
  }
});

it('keeps no hold on the turn or on the input that it no longer needs', async () => {
  const { asker, typed } = terminal();
  const turn = new AbortController();
  const answer = askForLine(asker, 'Now? ', turn.signal);
  await vi.advanceTimersByTimeAsync(100);
  typed.write('a\r');
  expect(await answer).toBe('a');
  expect(getEventListeners(turn.signal, 'abort')).toEqual([]);
  const withdrawn = askForLine(asker, 'Now? ', turn.signal);
  const rejected = expect(withdrawn).rejects.toThrow('over');
  await vi.advanceTimersByTimeAsync(100);
  turn.abort(new Error('over'));
  await rejected;
  expect(getEventListeners(turn.signal, 'abort')).toEqual([]);
  expect(['data', 'end', 'error'].map((name) => typed.listenerCount(name))).toEqual([0, 0, 0]);
  expect(typed.isPaused()).toBe(true);
});

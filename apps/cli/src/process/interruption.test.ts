import { EventEmitter } from 'node:events';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { watchSignals, type Interruption } from './interruption.ts';

let source: EventEmitter;
let interruption: Interruption;
const onInterrupt = vi.fn<() => void>();
const exit = vi.fn<() => void>();
const stop = vi.fn<() => Promise<void>>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetAllMocks();
  stop.mockResolvedValue(undefined);
  source = new EventEmitter();
  interruption = watchSignals({ onInterrupt, exit, source: source as unknown as NodeJS.Process });
  interruption.onStop(stop);
});

afterEach(() => {
  vi.useRealTimers();
});

describe('signals', () => {
  it('cancels the turn at the first Ctrl-C and says so', () => {
    source.emit('SIGINT');
    expect(interruption.signal.aborted).toBe(true);
    expect(onInterrupt).toHaveBeenCalledOnce();
    expect(stop).not.toHaveBeenCalled();
  });

  it('stops in order at the second, and at once at the third', () => {
    source.emit('SIGINT');
    source.emit('SIGINT');
    expect(stop).toHaveBeenCalledOnce();
    expect(exit).not.toHaveBeenCalled();
    source.emit('SIGINT');
    expect(exit).toHaveBeenCalledOnce();
  });

  it.each(['SIGTERM', 'SIGHUP'])('stops in order at %s, however often it comes', (name) => {
    source.emit(name);
    source.emit(name);
    source.emit('SIGTERM');
    expect(interruption.signal.aborted).toBe(true);
    expect(stop).toHaveBeenCalledOnce();
    expect(exit).not.toHaveBeenCalled();
  });

  it('does not wait longer than five seconds for an orderly stop', () => {
    stop.mockReturnValue(new Promise(() => undefined));
    source.emit('SIGTERM');
    vi.advanceTimersByTime(4999);
    expect(exit).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(exit).toHaveBeenCalledOnce();
  });

  it('leaves no handler and no timer behind', () => {
    source.emit('SIGTERM');
    interruption.dispose();
    vi.advanceTimersByTime(60_000);
    expect(exit).not.toHaveBeenCalled();
    expect(source.eventNames()).toEqual([]);
  });
});

import { EventEmitter } from 'node:events';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { watchSignals, type Interruption } from './interruption.ts';

let source: EventEmitter;
let interruption: Interruption;
const onInterrupt = vi.fn<() => void>();
const exit = vi.fn<() => void>();
const kill = vi.fn<() => void>();
const isCommitting = vi.fn<() => boolean>();
const stop = vi.fn<() => Promise<void>>();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.resetAllMocks();
  stop.mockResolvedValue(undefined);
  source = new EventEmitter();
  isCommitting.mockReturnValue(false);
  interruption = watchSignals({
    onInterrupt,
    exit,
    kill,
    isCommitting,
    source: source as unknown as NodeJS.Process,
  });
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

  it('kills the process when an orderly stop is not over after two seconds', () => {
    stop.mockReturnValue(new Promise(() => undefined));
    source.emit('SIGTERM');
    vi.advanceTimersByTime(1999);
    expect(kill).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(kill).toHaveBeenCalledOnce();
    expect(exit).not.toHaveBeenCalled();
  });

  it('lets a commit that is under way have five', () => {
    stop.mockReturnValue(new Promise(() => undefined));
    isCommitting.mockReturnValue(true);
    source.emit('SIGTERM');
    vi.advanceTimersByTime(4999);
    expect(kill).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(kill).toHaveBeenCalledOnce();
  });

  it('ends at once when the stop fails', async () => {
    stop.mockRejectedValue(new Error('no'));
    source.emit('SIGTERM');
    await vi.advanceTimersByTimeAsync(0);
    expect(exit).toHaveBeenCalledOnce();
  });

  it('leaves no handler behind', async () => {
    source.emit('SIGINT');
    await interruption.dispose();
    vi.advanceTimersByTime(60_000);
    expect(exit).not.toHaveBeenCalled();
    expect(kill).not.toHaveBeenCalled();
    expect(source.eventNames()).toEqual([]);
  });

  it('hears what came while nothing else could run, before it goes', async () => {
    const disposed = interruption.dispose();
    source.emit('SIGTERM');
    await disposed;
    expect(stop).toHaveBeenCalledOnce();
    expect(source.eventNames()).toEqual([]);
  });

  it('keeps the limit for what follows a stop, such as output that nobody reads', async () => {
    source.emit('SIGTERM');
    await interruption.dispose();
    vi.advanceTimersByTime(2000);
    expect(kill).toHaveBeenCalledOnce();
  });
});

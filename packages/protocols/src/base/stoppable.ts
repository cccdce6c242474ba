import { limitedSignal } from '@orion/contracts';

/**
 * Creates a stream that stops its work when the consumer leaves (R139).
 *
 * An async generator cannot be left while it waits: `return()` is queued until the pending step ends. Here `return()`
 * first aborts the signal that was passed to the work, so that a silent provider or a slow tool stops at once.
 * Aborting the outer signal also reaches the work.
 */
export function stoppable<Event>(
  outer: AbortSignal,
  start: (signal: AbortSignal) => AsyncIterator<Event, unknown, undefined>,
): AsyncIterableIterator<Event> {
  const { signal, abort, end } = limitedSignal(outer);
  const iterator = start(signal);
  const onStep = (step: IteratorResult<Event, unknown>): IteratorResult<Event, undefined> => {
    if (step.done !== true) return step;
    end();
    return { done: true, value: undefined };
  };
  const onFailure = (error: unknown): never => {
    end();
    throw error;
  };

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => iterator.next().then(onStep, onFailure),
    async return() {
      end();
      abort();
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
}

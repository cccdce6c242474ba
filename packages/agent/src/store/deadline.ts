import { sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

/** Whether `work` settles within that time. What it rejects with is its owner's business. */
export async function settlesWithin(
  clock: Clock,
  milliseconds: number,
  work: Promise<unknown>,
): Promise<boolean> {
  const settled = new AbortController();
  const end = (): void => settled.abort('settled');
  work.then(end, end);
  await sleep(clock, milliseconds, settled.signal);
  return settled.signal.aborted;
}

/** Settles with `work`, or when the signal aborts and `work` continues alone. */
export async function untilAborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  await unlessAborted(signal, work);
}

/** What `work` resolves with; null when the signal aborts, and `work` continues alone. */
export async function unlessAborted<Value>(
  signal: AbortSignal,
  work: Promise<Value>,
): Promise<Value | null> {
  const aborted = Promise.withResolvers<null>();
  const end = (): void => aborted.resolve(null);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/**
 * Waits that end when a signal aborts, one at a time. The signal is listened to once, however many there are: that
 * costs more than a wait of one that is ready, and `end` stops it.
 */
export class Interruptible {
  readonly #signal: AbortSignal | null;
  #isAborted: boolean;
  #interrupt: (() => void) | null = null;

  /** Null: they are not ended. */
  constructor(signal: AbortSignal | null) {
    this.#signal = signal;
    this.#isAborted = signal?.aborted ?? false;
    signal?.addEventListener('abort', this.#onAbort);
  }

  get isAborted(): boolean {
    return this.#isAborted;
  }

  /** What `work` resolves with; null when the signal aborts, and `work` continues alone. */
  wait<Value>(work: Promise<Value>): Promise<Value | null> {
    if (this.#signal === null) return work;
    return new Promise((resolve, reject) => {
      this.#interrupt = () => resolve(null);
      work.then(resolve, reject);
      if (this.#isAborted) resolve(null);
    });
  }

  end(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#isAborted = true;
    this.#interrupt?.();
  };
}

import { Worker } from 'node:worker_threads';

import type { Clock } from '@orion/contracts';

/** An answer that comes while this thread is busy is taken before it counts as late. */
const GRACE_MS = 20;

export type WorkerAnswer =
  | { readonly kind: 'answer'; readonly value: unknown }
  /** It did not answer in time, or ran out of memory: its thread was ended. */
  | { readonly kind: 'stopped'; readonly because: 'time' | 'memory' | 'abort' };

export type WorkerLimits = {
  readonly milliseconds: number;
  readonly signal: AbortSignal;
};

/**
 * A thread for work that somebody else decides about, such as a hostile path or grammar.
 *
 * 1. One question at a time; the next one waits.
 * 2. A question that takes longer than its limit ends the thread, and the next question starts another one. Nothing
 *    that the thread held is left then: `generation` counts the threads.
 * 3. The thread keeps no process alive.
 */
export class KillableWorker {
  readonly #entry: string;
  readonly #maxHeapMib: number;
  readonly #clock: Clock;
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #generation = 0;
  #pending = 0;

  /** @param entry The URL of a module that answers each message with one of its own. */
  constructor(entry: string, { maxHeapMib, clock }: { maxHeapMib: number; clock: Clock }) {
    this.#entry = entry;
    this.#maxHeapMib = maxHeapMib;
    this.#clock = clock;
  }

  /** Grows when a thread is started: what an earlier one was given has gone with it. */
  get generation(): number {
    return this.#generation;
  }

  /** The questions without an answer yet. */
  get pending(): number {
    return this.#pending;
  }

  /**
   * Asks when its turn has come. `question` is called then, so that it can look at `generation`. Rejects for a defect, and
   * as `question` does.
   */
  ask(question: () => Promise<unknown>, limits: WorkerLimits): Promise<WorkerAnswer> {
    this.#pending += 1;
    const asked = this.#last
      .then(() => this.#ask(question, limits))
      .finally(() => (this.#pending -= 1));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    // A question that is asked meanwhile starts another one.
    this.#worker = null;
    await worker?.terminate();
  }

  async #ask(
    question: () => Promise<unknown>,
    { milliseconds, signal }: WorkerLimits,
  ): Promise<WorkerAnswer> {
    if (signal.aborted) return { kind: 'stopped', because: 'abort' };
    const worker = (this.#worker ??= this.#start());
    const message = await question();
    const { promise, resolve, reject } = Promise.withResolvers<WorkerAnswer>();
    const answered = (value: unknown): void => resolve({ kind: 'answer', value });
    const failed = (error: Error & { code?: string }): void => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        resolve({ kind: 'stopped', because: 'memory' });
      else reject(error);
    };
    const ended = (): void => reject(new Error('a worker ended without an answer'));
    const aborted = (): void => resolve({ kind: 'stopped', because: 'abort' });
    let cancel = this.#clock.schedule(milliseconds, () => {
      cancel = this.#clock.schedule(GRACE_MS, () => resolve({ kind: 'stopped', because: 'time' }));
    });
    worker.once('message', answered);
    worker.once('error', failed);
    worker.once('exit', ended);
    signal.addEventListener('abort', aborted);
    worker.ref();
    try {
      worker.postMessage(message);
      const answer = await promise;
      if (answer.kind === 'stopped') await this.close();
      return answer;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      cancel();
      worker.off('message', answered);
      worker.off('error', failed);
      worker.off('exit', ended);
      signal.removeEventListener('abort', aborted);
      worker.unref();
    }
  }

  #start(): Worker {
    this.#generation += 1;
    const worker = new Worker(new URL(this.#entry), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: this.#maxHeapMib },
    });
    worker.unref();
    // One that fails between two questions is found by the next one.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }
}

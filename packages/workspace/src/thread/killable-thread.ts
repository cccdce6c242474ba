/**
 * A thread that can be stopped, for the regular expressions of models and plans.
 *
 * R1. JavaScript's regular expressions backtrack. Some never finish in a useful time and block their thread, so they
 *     never run in this one.
 * R2. An expression that exceeds the limit is stopped together with its thread.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '@orion/contracts';

/** For the start of a thread, even on a busy machine. */
export const START_LIMIT_MS = 10_000;
/** Longer expressions are refused. */
export const MAX_PATTERN_LENGTH = 1000;
const GRACE_MS = 20;
const MAX_HEAP_MIB = 128;

/** The thread was too slow or has died, and is stopped. `cause`: why it died, if it did. */
export class ThreadStopped extends Error {}

/** Plain JavaScript in a string, because every form of packaging would have to locate a separate file. */
export type ThreadProgram = string;

/** Defines `compile`, which programs share. */
export const COMPILE: ThreadProgram = `
function compile(pattern, flags) {
  try { return new RegExp(pattern, flags + 'u'); } catch {}
  // Without this flag, some common but unnecessary escapes are valid.
  return new RegExp(pattern, flags);
}
`;

export class KillableThread<Answer> {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #arrived: Answer[] = [];
  #failure: Error | null = null;
  #wake: () => void = () => undefined;

  constructor(program: ThreadProgram, data: unknown, clock: Clock) {
    this.#clock = clock;
    this.#worker = new Worker(program, {
      eval: true,
      workerData: data,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    this.#worker.on('message', (answer: Answer) => {
      this.#arrived.push(answer);
      this.#wake();
    });
    this.#worker.on('error', (error) => {
      this.#failure = error;
      this.#wake();
    });
    this.#worker.on('exit', () => {
      this.#failure ??= new Error('the thread of a pattern has ended');
      this.#wake();
    });
  }

  send(message: unknown): void {
    this.#worker.postMessage(message);
  }

  /** The next answer. Rejects with `ThreadStopped` if none arrives in time, or if the signal is aborted. */
  async answer(limitMs: number, signal?: AbortSignal): Promise<Answer> {
    let cancel = (): void => undefined;
    const stop = (): void => this.#wake();
    signal?.addEventListener('abort', stop);
    try {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        cancel = this.#clock.schedule(limitMs, () => {
          // An answer that arrived while this thread was busy is processed before it counts as late.
          cancel = this.#clock.schedule(GRACE_MS, resolve);
        });
        const isOver = this.#failure !== null || signal?.aborted === true;
        if (this.#arrived.length > 0 || isOver) resolve();
      });
    } finally {
      cancel();
      signal?.removeEventListener('abort', stop);
      this.#wake = (): void => undefined;
    }
    const answer = this.#arrived.shift();
    if (answer !== undefined) return answer;
    const cause = this.#failure;
    await this.close();
    throw new ThreadStopped('the thread of a pattern was stopped', { cause });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

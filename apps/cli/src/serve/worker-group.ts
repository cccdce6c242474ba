import { sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

/** What a worker says once it takes requests. */
export type Serving = {
  readonly url: string;
  /** For the person who started it. */
  readonly lines: readonly string[];
  /** A log-in link of the page that was shown to nobody; null without a page. */
  readonly link: string | null;
};

/** Without a code or a signal, it could not be started. */
export type WorkerEnd = { readonly code: number | null; readonly signal: string | null };

/** A process that serves, as its parent sees it. */
export type Worker = {
  readonly pid: number;
  readonly serving: Promise<Serving>;
  readonly ended: Promise<WorkerEnd>;
  /** Asks for a sign of life. */
  ask(onAnswer: () => void): void;
  signal(signal: NodeJS.Signals): void;
};

export type WorkerGroupOptions = {
  readonly fork: () => Worker;
  readonly clock: Clock;
  readonly say: (line: string) => void;
};

/** What is said of a worker that the system has no room for. */
export const COULD_NOT_START = 'A worker could not be started';

/**
 * How often a worker is asked whether it is alive, and how many questions it may leave without an answer. It is over
 * before its turns go to others: two processes must not have the files of one turn.
 */
const ASK_MS = 1_000;
const MAX_UNANSWERED = 5;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Who lived for so long did not fail at its start. */
const STEADY_MS = 10_000;

/** How long nothing takes the place of a worker that lived for so long; `latestMs` is the pause before that one. */
export function pauseAfter(livedMs: number, latestMs: number | null): number {
  if (latestMs === null || livedMs >= STEADY_MS) return FIRST_PAUSE_MS;
  return Math.min(2 * latestMs, LONGEST_PAUSE_MS);
}

/**
 * Keeps a number of workers alive that serve at one port.
 *
 * 1. The first one starts alone: it makes what there has to be once, and what keeps it from serving is said once.
 * 2. A worker that ends is replaced, after a pause that grows while none lives for long.
 * 3. A worker that serves and is silent is killed. One that is asked by nobody, as when the machine sleeps, is not
 *    silent.
 */
export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #live = new Set<Worker>();
  readonly #stopping = new AbortController();
  #kept: readonly Promise<WorkerEnd>[] = [];

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
  }

  /** What the first one says when all serve, or how one ended before that. */
  async start(count: number): Promise<Serving | WorkerEnd> {
    const first = this.#begin();
    const said = await Promise.race([first.serving, first.ended]);
    if (!('url' in said)) return said;
    // It was asked to stop before it served, and is about to.
    if (this.#stopping.signal.aborted) return first.ended;
    const others = Array.from({ length: count - 1 }, () => this.#begin());
    for (const { serving, ended } of others) {
      const other = await Promise.race([serving, ended]);
      if (!('url' in other)) return other;
    }
    this.#kept = [first, ...others].map((worker) => this.#keep(worker));
    return said;
  }

  /** Asks all of them to stop, or to stop at once if they were asked before. Resolves with how they ended. */
  async stop(): Promise<readonly WorkerEnd[]> {
    this.#stopping.abort();
    const ending = [...this.#live].map(({ ended }) => ended);
    for (const worker of this.#live) worker.signal('SIGTERM');
    const ends = await Promise.all(ending);
    await Promise.all(this.#kept);
    return ends;
  }

  #begin(): Worker {
    const worker = this.#options.fork();
    this.#live.add(worker);
    void worker.ended.then(() => this.#live.delete(worker));
    return worker;
  }

  /** Resolves with the end of the last one, when the group stops. */
  async #keep(first: Worker): Promise<WorkerEnd> {
    const { clock, say } = this.#options;
    const isStopping = this.#stopping.signal;
    let pauseMs: number | null = null;
    for (let worker = first; ; worker = this.#begin()) {
      const beganAt = clock.monotonic();
      const ended = new AbortController();
      void worker.serving.then(() => this.#watch(worker, ended.signal));
      const end = await worker.ended;
      ended.abort();
      if (isStopping.aborted) return end;
      pauseMs = pauseAfter(clock.monotonic() - beganAt, pauseMs);
      const how = end.signal ?? (end.code === null ? null : `exit code ${end.code}`);
      const what = how === null ? COULD_NOT_START : `The worker ${worker.pid} ended (${how})`;
      say(`${what}. Another one starts in ${pauseMs / 1000} s.`);
      await sleep(clock, pauseMs, isStopping);
      if (isStopping.aborted) return end;
    }
  }

  async #watch(worker: Worker, ended: AbortSignal): Promise<void> {
    const { clock, say } = this.#options;
    for (let unanswered = 0; !ended.aborted; unanswered += 1) {
      if (unanswered >= MAX_UNANSWERED) {
        say(`The worker ${worker.pid} does not respond and is being killed.`);
        worker.signal('SIGKILL');
        return;
      }
      worker.ask(() => (unanswered = -1));
      await sleep(clock, ASK_MS, ended);
    }
  }
}

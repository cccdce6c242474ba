import type { Clock } from '@orion/contracts';
import { OrionError } from '@orion/contracts';

/** The least time a store has to answer before a turn continues without it: several times what a local one takes. */
const LEAST_PATIENCE_MS = 15;
const MOST_PATIENCE_MS = 250;
/** A store is slow when it takes so many times as long as it usually does. */
const USUAL_TIMES = 4;
/** How much of the usual time the newest answer makes up. */
const NEWEST_SHARE = 1 / 4;
/**
 * The end of a process waits while answers come, but for none that is out for so many ticks, and not longer than that.
 * Ticks are counted, and not time: on a machine that has no time for this thread it has none for a server either.
 */
const TICK_MS = 25;
const END_TICKS: Readonly<Record<Attempt, number>> = { opening: 32, call: 16 };
const END_MS = 5_000;
/** Time for one more attempt with a store that failed. */
const LAST_ATTEMPT_MS = 20;

export type StoreHealthOptions = {
  readonly clock: Clock;
  /** What opening may take, in milliseconds: a file opens at once, and a server that hangs is known by nothing else. */
  readonly openingMs?: number;
};

/** To open the store, which a server takes several steps for, or a call to one that is open. */
type Attempt = 'opening' | 'call';

/** Why turns do not wait: the last attempt failed, or answers are overdue. */
type Trouble = 'failing' | 'silent';

/** Called on everything that may change how long it is worth waiting. */
type Watcher = () => void;

/**
 * What a process knows of its store from using it, and how long a turn waits for it.
 *
 * 1. A turn waits for answers, never for time: for as long as a few usual answers, counted from the last one. In vain
 *    it waits once; then nothing waits until the store has answered any call.
 * 2. Once an attempt has failed nothing waits, and whatever is waiting continues.
 * 3. Not waiting is not giving up: calls continue in the background, and an answer ends the trouble.
 * 4. The person learns of a failure once. Silence alone is not a failure: its cost is reported in the end.
 */
export class StoreHealth {
  readonly #clock: Clock;
  readonly #openingMs: number;
  #trouble: Trouble | null = null;
  /** Milliseconds from a call to its answer, smoothed; null before the first. */
  #usualMs: number | null = null;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** Attempts that are not over, and the tick at which each began. */
  readonly #underWay = new Set<{ readonly kind: Attempt; readonly begunAt: number }>();
  #ticks = 0;
  /** The tick of the last answer: who answers one will answer others. */
  #heardAt = 0;
  #cancelTick: (() => void) | null = null;
  readonly #watchers = new Set<Watcher>();
  #reported = false;
  #notice: string | null = null;

  constructor({ clock, openingMs = LEAST_PATIENCE_MS }: StoreHealthOptions) {
    this.#clock = clock;
    this.#openingMs = openingMs;
  }

  /** Sees every attempt to use the store. It may reject: only the fact matters here. */
  observe(attempt: Promise<unknown>, kind: Attempt = 'call'): void {
    const since = this.#clock.monotonic();
    const begun = { kind, begunAt: this.#ticks };
    this.#underWay.add(begun);
    this.#countTicks();
    attempt.then(
      () => {
        this.#underWay.delete(begun);
        this.#answeredAt = this.#clock.monotonic();
        // What opening takes says nothing of how long a call does.
        if (kind === 'call') this.#learn(this.#answeredAt - since);
        this.#heardAt = this.#ticks;
        this.#trouble = null;
        this.#countTicks();
        this.#notifyWatchers();
      },
      (error: unknown) => {
        this.#underWay.delete(begun);
        this.#countTicks();
        this.#trouble = 'failing';
        this.report(error);
        this.#notifyWatchers();
      },
    );
  }

  /** For something that the person has to know: one sentence, once. A turn continues without its store. */
  report(error: unknown): void {
    if (this.#reported) return;
    this.#reported = true;
    const code = OrionError.isInstance(error) ? error.code : 'STORE_UNAVAILABLE';
    const message = error instanceof Error ? error.message : String(error);
    this.#notice =
      `The store does not work (${code}: ${message.replace(/\.$/u, '')}). The turn goes on; later turns may ` +
      'not know what was said and done in it.';
  }

  /** The sentence, if there is one and it was not taken before. */
  takeNotice(): string | null {
    const notice = this.#notice;
    this.#notice = null;
    return notice;
  }

  /** Waits for something that should be stored before the turn continues. Errors of `work` are left to its owner. */
  async wait(work: Promise<unknown>): Promise<void> {
    const began = this.#clock.monotonic();
    await new Promise<void>((resolve) => {
      const end = (): void => {
        deadline.cancel();
        resolve();
      };
      const deadline = this.#deadline(
        () => {
          if (this.#trouble !== null) return Number.NEGATIVE_INFINITY;
          const since = Math.max(began, this.#answeredAt);
          return Math.min(since + this.#patienceMs(), began + MOST_PATIENCE_MS);
        },
        () => {
          this.#trouble ??= 'silent';
          end();
        },
      );
      work.then(end, end);
    });
  }

  /**
   * The end of everything: what `work` does with the store has the time that it is worth, and is then cut. Rejects
   * with what `work` rejects with.
   */
  async end(work: (cut: AbortSignal) => Promise<void>): Promise<void> {
    const cut = new AbortController();
    const began = this.#clock.monotonic();
    const deadline = this.#deadline(
      () => {
        if (this.#trouble === 'failing') return began + LAST_ATTEMPT_MS;
        for (const attempt of this.#underWay) {
          if (this.#isOverdue(attempt)) return Number.NEGATIVE_INFINITY;
        }
        return began + END_MS;
      },
      () => cut.abort(),
    );
    try {
      await work(cut.signal);
    } finally {
      deadline.cancel();
    }
  }

  readonly #tick = (): void => {
    this.#cancelTick = null;
    this.#ticks += 1;
    this.#countTicks();
    this.#notifyWatchers();
  };

  /** Only while there is something left to find out. */
  #countTicks(): void {
    for (const attempt of this.#underWay) {
      if (this.#isOverdue(attempt)) continue;
      this.#cancelTick ??= this.#clock.schedule(TICK_MS, this.#tick);
      return;
    }
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  /** Whether the end does not wait for it any more. */
  #isOverdue({ kind, begunAt }: { readonly kind: Attempt; readonly begunAt: number }): boolean {
    return this.#ticks - Math.max(begunAt, this.#heardAt) >= END_TICKS[kind];
  }

  /**
   * Calls back once at a time that moves with what is heard of the store. The time is waited for in two halves: after
   * a pause of this thread the first of them is over at once, and in the second it hears what came meanwhile.
   */
  #deadline(at: () => number, callback: () => void): { cancel(): void } {
    let cancelTimer: (() => void) | null = null;
    const cancel = (): void => {
      cancelTimer?.();
      cancelTimer = null;
      this.#watchers.delete(look);
    };
    const wait = (half: 1 | 2): void => {
      const left = at() - this.#clock.monotonic();
      if (left === Number.NEGATIVE_INFINITY) {
        cancel();
        callback();
        return;
      }
      cancelTimer = this.#clock.schedule(Math.max(0, half === 1 ? left / 2 : left), () => {
        if (half === 1) {
          wait(2);
          return;
        }
        cancel();
        callback();
      });
    };
    const look = (): void => {
      cancelTimer?.();
      cancelTimer = null;
      wait(1);
    };
    this.#watchers.add(look);
    // Not before the caller has what it cancels with.
    queueMicrotask(() => {
      if (this.#watchers.has(look)) look();
    });
    return { cancel };
  }

  #patienceMs(): number {
    if (this.#usualMs === null) return this.#openingMs;
    return Math.max(LEAST_PATIENCE_MS, this.#usualMs * USUAL_TIMES);
  }

  #learn(milliseconds: number): void {
    const usual = this.#usualMs ?? milliseconds;
    this.#usualMs = usual + (milliseconds - usual) * NEWEST_SHARE;
  }

  #notifyWatchers(): void {
    for (const look of this.#watchers) look();
  }
}

import { fitsLog } from '@orion/contracts';
import type { Clock, FollowedTurn, TurnNews, TurnPosition } from '@orion/contracts';
import { onAbort } from '../engine/sql-database.ts';
import type { Cursor, News } from './read-news.ts';
import { isUnavailable } from './refusals.ts';

/** What is read at once of one turn, in bytes of text; the rest waits in the log until the reader has taken it. */
const READ_BYTES = 256 * 1024;
/** And of all turns together. */
const ROUND_BYTES = 4 * 1024 * 1024;

export type FollowerOptions = {
  readonly clock: Clock;
  /** How often to look without being told. */
  readonly sweepMs: number;
  readonly read: (
    cursors: readonly Cursor[],
    maxBytes: number,
  ) => Promise<readonly (News | undefined)[]>;
  /**
   * Starts listening to other processes; called for the first reader, stopped after the last. Names the turns that have
   * news as `<turn_no>.<last_seq>`, or `*`.
   */
  readonly listen: (tell: (named: string) => void) => () => void;
};

/** One turn, as one reader follows it. */
type Following = {
  readonly turnId: string;
  position: TurnPosition;
  /** Null while the turn is not known. */
  turnNo: number | null;
  /** Whether it was found. */
  isBegun: boolean;
  /** Whether there may be something that was not read. */
  isDue: boolean;
};

type Reader = {
  /** Those that are not over. */
  readonly turns: Set<Following>;
  /** Whether the database has answered it. */
  isServed: boolean;
  /** What waits for the next answer; null while the reader is busy with the one before. */
  next: PromiseWithResolvers<readonly TurnNews[]> | null;
};

/**
 * Reads for all readers of a process, with one question at a time.
 *
 * 1. A reader sees the events of a turn once and in order, or a reset and then all of them again.
 * 2. Nothing is read for a reader that has not taken what it was given.
 * 3. Readers at the same place share what is read.
 * 4. News between two questions are not lost: a turn that was named is due until it is asked for.
 * 5. Every turn is looked at again after the sweep time, because a notification may not arrive, and a failover takes
 *    back without one.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #readers = new Set<Reader>();
  #stopListening: (() => void) | null = null;
  #cancelSweep: (() => void) | null = null;
  #isAsking = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  async *follow(
    turns: readonly FollowedTurn[],
    signal: AbortSignal,
  ): AsyncGenerator<TurnNews, void> {
    const reader: Reader = { turns: new Set(turns.map(begin)), isServed: false, next: null };
    this.#readers.add(reader);
    this.#stopListening ??= this.#options.listen((named) => this.#tell(named));
    const forget = onAbort(signal, () => takeNext(reader)?.resolve([]));
    try {
      while (reader.turns.size > 0 && !signal.aborted) {
        for (const news of await this.#next(reader)) {
          if (signal.aborted) return;
          yield news;
        }
      }
    } finally {
      forget();
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#rest();
    }
  }

  /** This process has stored events of a turn, up to that number. */
  wake(turnId: string, lastSeq: number): void {
    this.#markDue((turn) => turn.turnId === turnId && turn.position.seq < lastSeq);
  }

  #next(reader: Reader): Promise<readonly TurnNews[]> {
    const next = Promise.withResolvers<readonly TurnNews[]>();
    reader.next = next;
    void this.#ask();
    return next.promise;
  }

  #tell(named: string): void {
    const lastSeqs = new Map(
      named.split(',').map((each) => {
        const [turnNo, lastSeq] = each.split('.');
        return [Number(turnNo), Number(lastSeq)];
      }),
    );
    this.#markDue(
      ({ turnNo, position }) =>
        named === '*' || turnNo === null || (lastSeqs.get(turnNo) ?? 0) > position.seq,
    );
  }

  #markDue(which: (turn: Following) => boolean): void {
    for (const { turns } of this.#readers) for (const turn of turns) turn.isDue ||= which(turn);
    void this.#ask();
  }

  /** Asks for what is due until nothing is. Never rejects. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    // Nothing is waited for between the last look and the end, so that nobody comes in between.
    for (let due = this.#due(); due.length > 0; due = this.#due()) {
      if (!(await this.#askFor(due))) break;
    }
    this.#isAsking = false;
    if (this.#waiting().length > 0) {
      this.#cancelSweep ??= this.#options.clock.schedule(this.#options.sweepMs, () => {
        this.#cancelSweep = null;
        this.#markDue(() => true);
      });
    }
  }

  #waiting(): readonly Reader[] {
    return [...this.#readers].filter(({ next }) => next !== null);
  }

  #due(): readonly Following[] {
    return this.#waiting().flatMap(({ turns }) => [...turns].filter(({ isDue }) => isDue));
  }

  /** False when nothing was answered. */
  async #askFor(due: readonly Following[]): Promise<boolean> {
    const readers = this.#waiting();
    for (const turn of due) turn.isDue = false;
    const cursors = new Map(
      due.map((turn) => [placeOf(turn), { turnId: turn.turnId, seq: turn.position.seq }]),
    );
    const maxBytes = Math.min(READ_BYTES, Math.ceil(ROUND_BYTES / cursors.size));
    try {
      const answers = await this.#options.read([...cursors.values()], maxBytes);
      const places = new Map([...cursors.keys()].map((place, index) => [place, answers[index]]));
      const asked = new Set(due);
      for (const reader of readers) deliver(reader, asked, places);
      return true;
    } catch (error) {
      // The sweep asks again.
      for (const turn of due) turn.isDue = true;
      for (const reader of readers) {
        // A database that has answered before will come back; one that never did is reported.
        if (!reader.isServed || !isUnavailable(error)) takeNext(reader)?.reject(error);
      }
      return false;
    }
  }

  #rest(): void {
    this.#stopListening?.();
    this.#stopListening = null;
    this.#cancelSweep?.();
    this.#cancelSweep = null;
  }
}

function begin({ turnId, after }: FollowedTurn): Following {
  return { turnId, position: after, turnNo: null, isBegun: false, isDue: true };
}

function placeOf({ turnId, position }: Following): string {
  return `${position.seq} ${turnId}`;
}

/** Gives a reader what was read of its turns, if that is anything. */
function deliver(
  reader: Reader,
  asked: ReadonlySet<Following>,
  answers: ReadonlyMap<string, News | undefined>,
): void {
  const all: TurnNews[] = [];
  for (const turn of reader.turns) {
    if (!asked.has(turn)) continue;
    reader.isServed = true;
    const { news, isOver } = take(turn, answers.get(placeOf(turn)));
    all.push(...news);
    if (isOver) reader.turns.delete(turn);
  }
  if (all.length > 0 || reader.turns.size === 0) takeNext(reader)?.resolve(all);
}

/** An answer is given once, and from then on the reader is busy with it. */
function takeNext(reader: Reader): Reader['next'] {
  const { next } = reader;
  reader.next = null;
  return next;
}

/** Moves one turn of a reader to where it is after an answer. */
function take(
  turn: Following,
  answer: News | undefined,
): { readonly news: readonly TurnNews[]; readonly isOver: boolean } {
  const {
    epochAt = null,
    entries = [],
    lastSeq = 0,
    isOver = false,
    isFolded = false,
  } = answer ?? {};
  turn.turnNo = answer?.turnNo ?? null;
  const isWhole = turn.isBegun || !isFolded;
  turn.isBegun ||= answer !== undefined;
  if (!isWhole || !fitsLog(turn.position, epochAt)) {
    turn.position = { seq: 0, epoch: null };
    turn.isDue = answer !== undefined;
    return { news: [{ kind: 'reset', turnId: turn.turnId }], isOver: false };
  }
  const last = entries.at(-1);
  if (last === undefined) return { news: [], isOver };
  turn.position = { seq: last.seq, epoch: last.epoch };
  turn.isDue ||= isOver || last.seq < lastSeq;
  return {
    news: entries.map((entry) => ({ kind: 'event', entry })),
    isOver: last.kind === 'done',
  };
}

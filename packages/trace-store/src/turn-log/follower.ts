import { fitsLog } from '@orion/contracts';
import type { Clock, FollowedTurn, TurnNews, TurnPosition } from '@orion/contracts';
import { isUnavailable, onAbort } from '../engine/sql-database.ts';
import type { Cursor, News } from './read-news.ts';
import { gone } from './refusals.ts';

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
   * Starts listening to other processes; called for the first reader that waits for news, stopped after the last reader.
   * Names the turns that have news as `<turn_no>.<last_seq>`, or `*`.
   */
  readonly listen: (tell: (named: string) => void) => () => void;
};

/** One turn, as one reader follows it. */
type Following = {
  readonly turnId: string;
  readonly reader: Reader;
  position: TurnPosition;
  /** Null while the turn is not known. */
  turnNo: number | null;
  /** Whether it was there, here or for whoever follows. */
  isFound: boolean;
  /** Whether something was read of it. */
  isBegun: boolean;
  /** The highest number that may be there; with a higher one than that of the position the turn is due. */
  named: number;
};

type Reader = {
  /** Those that are not over. */
  readonly turns: Set<Following>;
  /** Whether the database has answered it. */
  isServed: boolean;
  /** What waits for the next answer; null while the reader is busy with the one before. */
  next: PromiseWithResolvers<readonly TurnNews[]> | null;
};

/** Nobody knows what is there. */
const ANY = Number.POSITIVE_INFINITY;

/**
 * Reads for all readers of a process, with one question at a time.
 *
 * 1. A reader sees the events of a turn once and in order, or a reset and then all of them again.
 * 2. Nothing is read for a reader that has not taken what it was given.
 * 3. Readers at the same place share what is read.
 * 4. News between two questions are not lost: a turn that was named is due until it is asked for.
 * 5. Every turn is looked at again after the sweep time, because a notification may not arrive, and a failover takes
 *    back without one.
 * 6. A turn that was found and is not there any more, since a failover took back that it was submitted, ends its reader
 *    with TURN_NOT_FOUND: nothing would ever follow.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #readers = new Set<Reader>();
  readonly #waiting = new Set<Reader>();
  /** By the ids of their turns. */
  readonly #followings = new Map<string, Set<Following>>();
  /** Those that are due, of readers that wait. */
  readonly #due = new Set<Following>();
  #stopListening: (() => void) | null = null;
  #cancelSweep: (() => void) | null = null;
  #isAsking = false;
  /** Since when there is something that a waiting reader lacks, by the monotonic clock; null if there is nothing. */
  #behindSince: number | null = null;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  async *follow(
    turns: readonly FollowedTurn[],
    signal: AbortSignal,
  ): AsyncGenerator<TurnNews, void> {
    const reader: Reader = { turns: new Set(), isServed: false, next: null };
    for (const turn of turns) this.#begin(turn, reader);
    this.#readers.add(reader);
    const forget = onAbort(signal, () => this.#takeNext(reader)?.resolve([]));
    try {
      while (reader.turns.size > 0 && !signal.aborted) {
        for (const news of await this.#next(reader)) {
          if (signal.aborted) return;
          yield news;
        }
      }
    } finally {
      forget();
      this.#takeNext(reader);
      for (const turn of reader.turns) this.#end(turn);
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#rest();
    }
  }

  /** This process has stored events of a turn, up to that number. */
  wake(turnId: string, lastSeq: number): void {
    for (const turn of this.#followings.get(turnId) ?? []) this.#name(turn, lastSeq);
    void this.#ask();
  }

  /** For how many milliseconds readers have been waiting for what they do not have. */
  lag(): number {
    return this.#behindSince === null ? 0 : this.#options.clock.monotonic() - this.#behindSince;
  }

  #begin({ turnId, after, isFound = false }: FollowedTurn, reader: Reader): void {
    const turn: Following = {
      turnId,
      reader,
      position: after,
      turnNo: null,
      isFound,
      isBegun: false,
      named: ANY,
    };
    reader.turns.add(turn);
    const others = this.#followings.get(turnId);
    if (others === undefined) this.#followings.set(turnId, new Set([turn]));
    else others.add(turn);
  }

  #end(turn: Following): void {
    turn.reader.turns.delete(turn);
    const others = this.#followings.get(turn.turnId);
    others?.delete(turn);
    if (others?.size === 0) this.#followings.delete(turn.turnId);
  }

  #next(reader: Reader): Promise<readonly TurnNews[]> {
    const next = Promise.withResolvers<readonly TurnNews[]>();
    reader.next = next;
    this.#waiting.add(reader);
    for (const turn of reader.turns) this.#name(turn, turn.named);
    // Where something is due, the answer says whether it has to wait.
    if (![...reader.turns].some((turn) => this.#due.has(turn))) this.#listen();
    void this.#ask();
    return next.promise;
  }

  #listen(): void {
    this.#stopListening ??= this.#options.listen((named) => this.#tell(named));
  }

  /** An answer is given once, and from then on the reader is busy with it. */
  #takeNext(reader: Reader): Reader['next'] {
    const { next } = reader;
    reader.next = null;
    this.#waiting.delete(reader);
    for (const turn of reader.turns) this.#due.delete(turn);
    return next;
  }

  #name(turn: Following, lastSeq: number): void {
    turn.named = Math.max(turn.named, lastSeq);
    if (turn.named > turn.position.seq && turn.reader.next !== null) this.#due.add(turn);
  }

  #tell(named: string): void {
    const lastSeqs = new Map(
      named.split(',').map((each) => {
        const [turnNo, lastSeq] = each.split('.');
        return [Number(turnNo), Number(lastSeq)];
      }),
    );
    for (const { turns } of this.#readers) {
      for (const turn of turns) {
        const { turnNo } = turn;
        const isAny = named === '*' || turnNo === null;
        this.#name(turn, isAny ? ANY : (lastSeqs.get(turnNo) ?? 0));
      }
    }
    void this.#ask();
  }

  /** Asks for what is due until nothing is. Never rejects. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    // What is named in this moment comes along.
    await Promise.resolve();
    // Nothing is waited for between the last look and the end, so that nobody comes in between.
    let isAnswered = true;
    while (isAnswered && this.#due.size > 0) {
      this.#behindSince ??= this.#options.clock.monotonic();
      isAnswered = await this.#askFor([...this.#due]);
    }
    if (isAnswered) this.#behindSince = null;
    this.#isAsking = false;
    if (this.#waiting.size > 0) {
      this.#cancelSweep ??= this.#options.clock.schedule(this.#options.sweepMs, () => {
        this.#cancelSweep = null;
        for (const { turns } of this.#readers) for (const turn of turns) this.#name(turn, ANY);
        void this.#ask();
      });
    }
  }

  /** False when nothing was answered. */
  async #askFor(due: readonly Following[]): Promise<boolean> {
    for (const turn of due) turn.named = 0;
    this.#due.clear();
    const places = [...Map.groupBy(due, placeOf).values()];
    const cursors = places.flatMap(([turn]) =>
      turn === undefined ? [] : [{ turnId: turn.turnId, seq: turn.position.seq }],
    );
    const maxBytes = Math.min(READ_BYTES, Math.ceil(ROUND_BYTES / cursors.length));
    try {
      const answers = await this.#options.read(cursors, maxBytes);
      const readers = new Map<Reader, TurnNews[]>();
      for (const [index, turns] of places.entries()) {
        for (const turn of turns) {
          if (turn.isFound && answers[index] === undefined) {
            this.#takeNext(turn.reader)?.reject(gone(turn.turnId));
            continue;
          }
          const { news, isOver } = take(turn, answers[index]);
          const all = readers.get(turn.reader);
          if (all === undefined) readers.set(turn.reader, [...news]);
          else all.push(...news);
          if (isOver) this.#end(turn);
        }
      }
      for (const [reader, news] of readers) this.#deliver(reader, news);
      return true;
    } catch (error) {
      // The sweep asks again.
      for (const turn of due) this.#name(turn, ANY);
      for (const reader of new Set(due.map((turn) => turn.reader))) {
        // A database that has answered before will come back; one that never did is reported.
        if (!reader.isServed || !isUnavailable(error)) this.#takeNext(reader)?.reject(error);
      }
      return false;
    }
  }

  /** Gives a reader what was read of its turns, if that is anything. */
  #deliver(reader: Reader, news: readonly TurnNews[]): void {
    reader.isServed = true;
    if (news.length > 0 || reader.turns.size === 0) this.#takeNext(reader)?.resolve(news);
    else if (reader.next !== null) this.#listen();
  }

  #rest(): void {
    this.#stopListening?.();
    this.#stopListening = null;
    this.#cancelSweep?.();
    this.#cancelSweep = null;
    // Nobody waits, also if the last question had no answer.
    this.#behindSince = null;
  }
}

function placeOf({ turnId, position }: Following): string {
  return `${position.seq} ${turnId}`;
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
  turn.isFound ||= turn.isBegun;
  if (!isWhole || !fitsLog(turn.position, epochAt)) {
    turn.position = { seq: 0, epoch: null };
    turn.named = answer === undefined ? 0 : ANY;
    return { news: [{ kind: 'reset', turnId: turn.turnId, isFolded }], isOver: false };
  }
  const last = entries.at(-1);
  if (last === undefined) return { news: [], isOver };
  turn.position = { seq: last.seq, epoch: last.epoch };
  turn.named = Math.max(turn.named, isOver ? ANY : lastSeq);
  return {
    news: entries.map((entry) => ({ kind: 'event', entry })),
    isOver: last.kind === 'done',
  };
}

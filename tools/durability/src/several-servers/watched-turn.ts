/** A client of one turn that goes from server to server, and notes when it saw what. */
import { setTimeout as wait } from 'node:timers/promises';

import { isRefused, TurnReader, UnknownTurn } from '../served-turns/reader.ts';
import type { ReadEvent, ServerAddress } from '../served-turns/reader.ts';

const AGAIN_MS = 100;

/** How long a turn had no owner: between the last event of one and the first of the next. */
export type Move = { readonly from: number; readonly to: number };

export class WatchedTurn {
  readonly #submit: () => Promise<string>;
  #reader: TurnReader | null = null;
  /** By the monotonic clock. */
  readonly #arrivals: number[] = [];
  readonly #moves: Move[] = [];
  #losses = 0;
  #resetsBefore = 0;

  /**
   * @param submit stores the turn, or finds it; resolves to its id
   * @param id of one that is stored already
   */
  constructor(submit: () => Promise<string>, id?: string) {
    this.#submit = submit;
    if (id !== undefined) this.#reader = new TurnReader(id);
  }

  /** Empty before it is submitted. */
  get id(): string {
    return this.#reader?.turnId ?? '';
  }

  get events(): readonly ReadEvent[] {
    return this.#reader?.events ?? [];
  }

  get isDone(): boolean {
    return this.#reader?.isDone ?? false;
  }

  get moves(): readonly Move[] {
    return this.#moves;
  }

  get resets(): number {
    return this.#resetsBefore + (this.#reader?.resets ?? 0);
  }

  /** How often no server knew of it any more, and it was submitted again. */
  get losses(): number {
    return this.#losses;
  }

  /** The longest time in which nothing arrived. */
  get silenceMs(): number {
    return Math.max(
      0,
      ...this.#arrivals.map((time, index) => time - (this.#arrivals[index - 1] ?? time)),
    );
  }

  /** Submits the turn and reads it until it is over, or `signal` aborts. `next` names the server for each connection. */
  async read(next: () => ServerAddress, signal?: AbortSignal): Promise<void> {
    while (!this.isDone && signal?.aborted !== true) {
      this.#reader ??= new TurnReader(await this.#submit());
      try {
        await this.#reader.read(next(), () => this.#note());
      } catch (error) {
        if (error instanceof UnknownTurn) this.#lose();
        else if (!isRefused(error)) throw error;
      }
      if (!this.isDone) await wait(AGAIN_MS);
    }
  }

  /** Forgets what was read. */
  startOver(): void {
    this.#resetsBefore = this.resets;
    this.#reader = new TurnReader(this.id);
  }

  #lose(): void {
    this.#losses += 1;
    this.#resetsBefore = this.resets;
    this.#reader = null;
  }

  #note(): 'more' | 'enough' {
    const now = performance.now();
    const [last, before] = [this.events.at(-1), this.events.at(-2)];
    const from = this.#arrivals.at(-1) ?? now;
    if (before !== undefined && ownerOf(last) !== ownerOf(before))
      this.#moves.push({ from, to: now });
    this.#arrivals.push(now);
    return this.isDone ? 'enough' : 'more';
  }
}

/** The id of an event is `<number>.<owner>`. */
function ownerOf(event: ReadEvent | undefined): string {
  return event?.id.split('.')[1] ?? '';
}

/** A client of one turn that goes from server to server, and notes when it saw what. */
import { setTimeout as wait } from 'node:timers/promises';

import { isRefused, TurnReader } from '../served-turns/reader.ts';
import type { ReadEvent, ServerAddress } from '../served-turns/reader.ts';

const AGAIN_MS = 100;

/** How long a turn had no owner: between the last event of one and the first of the next. */
export type Move = { readonly from: number; readonly to: number };

export class WatchedTurn {
  readonly id: string;
  readonly #reader: TurnReader;
  /** By the monotonic clock. */
  readonly #arrivals: number[] = [];
  readonly #moves: Move[] = [];

  constructor(id: string) {
    this.id = id;
    this.#reader = new TurnReader(id);
  }

  get events(): readonly ReadEvent[] {
    return this.#reader.events;
  }

  get moves(): readonly Move[] {
    return this.#moves;
  }

  get isDone(): boolean {
    return this.#reader.isDone;
  }

  get resets(): number {
    return this.#reader.resets;
  }

  /** The longest time in which nothing arrived. */
  get silenceMs(): number {
    return Math.max(
      0,
      ...this.#arrivals.map((time, index) => time - (this.#arrivals[index - 1] ?? time)),
    );
  }

  /** Until the turn is over. `next` names the server for each connection. */
  async read(next: () => ServerAddress): Promise<void> {
    while (!this.#reader.isDone) {
      try {
        await this.#reader.read(next(), () => this.#note());
      } catch (error) {
        if (!isRefused(error)) throw error;
      }
      if (!this.#reader.isDone) await wait(AGAIN_MS);
    }
  }

  #note(): 'more' | 'enough' {
    const now = performance.now();
    const [last, before] = [this.events.at(-1), this.events.at(-2)];
    const from = this.#arrivals.at(-1) ?? now;
    if (before !== undefined && ownerOf(last) !== ownerOf(before))
      this.#moves.push({ from, to: now });
    this.#arrivals.push(now);
    return this.#reader.isDone ? 'enough' : 'more';
  }
}

/** The id of an event is `<number>.<owner>`. */
function ownerOf(event: ReadEvent | undefined): string {
  return event?.id.split('.')[1] ?? '';
}

import { createHash } from 'node:crypto';

import { createFakeClock } from '@orion/testkit';
import type { FakeClock } from '@orion/testkit';

import { Chance } from './chance.ts';

/** Where one run takes place: its time, its chance, and the record of what happens in it. */
export class World {
  readonly clock: FakeClock = createFakeClock();
  readonly seed: number;
  /** What decides over faults and delays. */
  readonly chance: Chance;
  /** What the product gets for its ids. */
  readonly ids: Chance;
  readonly #hash = createHash('sha256');
  readonly #onNote: ((line: string) => void) | null;
  readonly #failures = new Set<string>();

  constructor(seed: number, onNote: ((line: string) => void) | null = null) {
    this.seed = seed;
    this.chance = new Chance(seed);
    this.ids = this.chance.split();
    this.#onNote = onNote;
  }

  get now(): number {
    return this.clock.monotonic();
  }

  note(line: string): void {
    const timed = `${this.now} ${line}`;
    this.#hash.update(`${timed}\n`);
    this.#onNote?.(timed);
  }

  fail(what: string): void {
    this.note(`FAILED ${what}`);
    this.#failures.add(what);
  }

  get failures(): readonly string[] {
    return [...this.#failures];
  }

  /** Of everything that was noted. To be asked once, at the end. */
  trace(): string {
    return this.#hash.digest('hex').slice(0, 16);
  }

  /** Resolves when the time is up, unless it is cancelled before. */
  timeout(milliseconds: number): { readonly over: Promise<void>; readonly cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { over: promise, cancel: this.clock.schedule(milliseconds, resolve) };
  }

  pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.schedule(milliseconds, resolve);
    });
  }
}

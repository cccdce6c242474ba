import { AsyncLocalStorage } from 'node:async_hooks';

import type { Clock } from '@orion/contracts';

import type { World } from './world.ts';

/** The process whose code runs. */
const RUNNING = new AsyncLocalStorage<ProcessLife>();
/** How long a change of a file takes. */
const DISK_MS = [0, 2] as const;

/**
 * Whether a simulated process is there, and its clock.
 *
 * 1. Of a process that is dead nothing goes on: its timers do not ring, and what it waits for never comes.
 * 2. Of one that is frozen nothing goes on until it wakes; then everything that came meanwhile does, in its order.
 * 3. A change of a file takes a moment, in which it may be killed or frozen.
 * 4. Whatever enters a process goes through `awake` or `clock`: between two of those no time passes.
 */
export class ProcessLife {
  readonly name: string;
  readonly clock: Clock;
  readonly died = Promise.withResolvers<void>();
  readonly #world: World;
  #state: 'running' | 'frozen' | 'dead' = 'running';
  #isCutOff = false;
  #wallOffset = 0;
  /** What came while it was frozen. */
  readonly #held: (() => void)[] = [];

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
    this.clock = {
      now: () => world.clock.now() + this.#wallOffset,
      monotonic: () => world.clock.monotonic(),
      schedule: (milliseconds, callback) => {
        let isCancelled = false;
        const cancel = world.clock.schedule(milliseconds, () =>
          this.#enter(() => {
            if (!isCancelled) callback();
          }),
        );
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
  }

  get state(): 'running' | 'frozen' | 'dead' {
    return this.#state;
  }

  /** Its connections to the store answer nothing. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  get isHealthy(): boolean {
    return this.#state === 'running' && !this.#isCutOff;
  }

  /** Resolves when the process goes on; never, if it is dead. */
  awake(): Promise<void> {
    return new Promise((resolve) => this.#enter(resolve));
  }

  /** The process whose code runs; undefined outside of all. */
  static get current(): ProcessLife | undefined {
    return RUNNING.getStore();
  }

  /** Runs code of this process. */
  run<Result>(work: () => Result): Result {
    return RUNNING.run(this, work);
  }

  /** A change of a file has been made. */
  async changed(): Promise<void> {
    await this.#world.pause(this.#world.chance.between(...DISK_MS));
    await this.awake();
  }

  kill(): void {
    if (this.#state === 'dead') return;
    this.#state = 'dead';
    this.#held.length = 0;
    this.#world.note(`${this.name} killed`);
    this.died.resolve();
  }

  freeze(): void {
    if (this.#state !== 'running') return;
    this.#state = 'frozen';
    this.#world.note(`${this.name} frozen`);
  }

  wake(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    this.#world.note(`${this.name} wakes`);
    for (const held of this.#held.splice(0)) this.run(held);
  }

  cutOff(isCutOff: boolean): void {
    this.#isCutOff = isCutOff;
    this.#world.note(`${this.name} ${isCutOff ? 'cut off' : 'connected'}`);
  }

  jump(milliseconds: number): void {
    this.#wallOffset += milliseconds;
    this.#world.note(`${this.name} clock ${milliseconds}`);
  }

  #enter(callback: () => void): void {
    if (this.#state === 'running') this.run(callback);
    else if (this.#state === 'frozen') this.#held.push(callback);
  }
}

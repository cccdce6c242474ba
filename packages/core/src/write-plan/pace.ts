/**
 * Long work in small steps: a plan over files of any size is no reason for a process to be deaf.
 *
 * S1. After so much work the rest of the process has its turn, and then it shows whether the work was called off.
 */
import type { ByteSource } from '@orion/contracts';

import { requireRunning } from './running.ts';

/** Lets everything else that waits in this process have its turn. */
export type NextTurn = () => Promise<void>;

/** One chunk costs about as much as so many bytes of it, however few it has. */
const CHUNK_COST = 512;
const STEP_COST: number = 4 * 1024 * 1024;

export class Pace {
  readonly #signal: AbortSignal | null;
  readonly #nextTurn: NextTurn;
  #cost = 0;

  constructor(signal: AbortSignal | null, nextTurn: NextTurn) {
    this.#signal = signal;
    this.#nextTurn = nextTurn;
  }

  /** Rejects with ABORTED when the work was called off. */
  async work(bytes: number): Promise<void> {
    this.#cost += bytes + CHUNK_COST;
    if (this.#cost < STEP_COST) return;
    this.#cost = 0;
    await this.#nextTurn();
    requireRunning(this.#signal);
  }

  /** The same bytes, at this pace. */
  of(source: ByteSource): ByteSource {
    const work = (bytes: number): Promise<void> => this.work(bytes);
    return async function* paced(): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const chunk of source()) {
        await work(chunk.length);
        yield chunk;
      }
    };
  }
}

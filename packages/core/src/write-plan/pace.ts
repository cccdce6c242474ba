/**
 * Divides long work into steps, so that the process stays responsive while it plans changes of large files.
 *
 * S1. After each step other tasks of the process run; then the work stops if it was cancelled.
 */
import type { ByteSource } from '@orion/contracts';

import { requireRunning } from './running.ts';

/** Lets other waiting tasks of this process run. */
export type NextTurn = () => Promise<void>;

/** The fixed cost of a chunk, in bytes. */
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

  /** Rejects with ABORTED if the work was cancelled. */
  async work(bytes: number): Promise<void> {
    this.#cost += bytes + CHUNK_COST;
    if (this.#cost < STEP_COST) return;
    this.#cost = 0;
    await this.#nextTurn();
    requireRunning(this.#signal);
  }

  /** The same bytes, read in steps. */
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

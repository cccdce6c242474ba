import type { TraceRow } from './trace-row.ts';

/**
 * Rows that wait to be stored, including those being written.
 *
 * 1. Never more than `maxEvents` rows or about `maxBytes` bytes; a row that does not fit is refused.
 * 2. First in, first out: a row leaves only once its outcome is known.
 */
export class TraceQueue {
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  readonly #rows: TraceRow[] = [];
  #bytes = 0;
  #removed = 0;

  constructor(maxEvents: number, maxBytes: number) {
    this.#maxEvents = maxEvents;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#rows.length;
  }

  /** The number of rows that have left so far. */
  get removed(): number {
    return this.#removed;
  }

  /** Whether no further row can fit. */
  get isFull(): boolean {
    return this.size >= this.#maxEvents || this.#bytes >= this.#maxBytes;
  }

  /** False if the row does not fit. */
  push(row: TraceRow): boolean {
    if (this.size >= this.#maxEvents || this.#bytes + row.bytes > this.#maxBytes) return false;
    this.#rows.push(row);
    this.#bytes += row.bytes;
    return true;
  }

  /** The oldest rows, without removing them. */
  peek(count: number): readonly TraceRow[] {
    return this.#rows.slice(0, count);
  }

  /** Removes the oldest rows. */
  remove(count: number): void {
    for (const row of this.#rows.splice(0, count)) {
      this.#removed += 1;
      this.#bytes -= row.bytes;
    }
  }
}

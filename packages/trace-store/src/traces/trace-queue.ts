import type { TraceRow } from './trace-row.ts';

/**
 * Rows that wait to be stored, those on their way included.
 *
 * 1. Never more than `maxEvents` rows or about `maxBytes` bytes; what does not fit is refused, not queued.
 * 2. First in, first out: a row leaves only when it is known what became of it.
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

  /** Rows that have ever left. */
  get removed(): number {
    return this.#removed;
  }

  /** Whether a row fits that is not made yet. */
  get isFull(): boolean {
    return this.size >= this.#maxEvents || this.#bytes >= this.#maxBytes;
  }

  /** False when the row does not fit. */
  push(row: TraceRow): boolean {
    if (this.size >= this.#maxEvents || this.#bytes + row.bytes > this.#maxBytes) return false;
    this.#rows.push(row);
    this.#bytes += row.bytes;
    return true;
  }

  /** The oldest rows, which stay. */
  peek(count: number): readonly TraceRow[] {
    return this.#rows.slice(0, count);
  }

  /** Takes the oldest rows out. */
  remove(count: number): void {
    for (const row of this.#rows.splice(0, count)) {
      this.#removed += 1;
      this.#bytes -= row.bytes;
    }
  }
}

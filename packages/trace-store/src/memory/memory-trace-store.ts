import type {
  Clock,
  Redact,
  TraceEvent,
  TraceFilter,
  TraceInput,
  TraceStore,
} from '@orion/contracts';
import { describeThrown } from '../safety/json-safety.ts';
import { prepareTrace, toStoredFilter, toTraceInput } from '../safety/trace-event.ts';
import type { StoredFilter } from '../safety/trace-event.ts';

export type MemoryTraceStoreOptions = {
  readonly clock: Pick<Clock, 'now'>;
  /** The oldest events are dropped, and counted, beyond it; 10,000 when left out. */
  readonly maxEvents?: number;
  /** Sees every event as it is stored, already redacted. */
  readonly onEvent?: (event: TraceEvent) => void;
  /** Takes the keys that the process works with out of every text. */
  readonly redact?: Redact;
  /** Told once, when the first event is dropped; `dropped()` has the number (R228). */
  readonly onFirstDrop?: (reason: string) => void;
  /** Makes `record` throw when something cannot be kept, for tests and for those who would rather stop (R228). */
  readonly strict?: boolean;
};

const DEFAULT_MAX_EVENTS = 10_000;

/**
 * Traces in memory, for as long as the process lives.
 *
 * 1. `record` never throws and never waits, unless `strict` is set (R228).
 * 2. What is stored is frozen in meaning: a caller that changes its object afterwards changes no event.
 * 3. Ids grow by one and are never used again, so that a gap tells of dropped events.
 */
export function createMemoryTraceStore(options: MemoryTraceStoreOptions): TraceStore {
  const {
    clock,
    maxEvents = DEFAULT_MAX_EVENTS,
    onEvent,
    onFirstDrop,
    redact,
    strict = false,
  } = options;
  if (!Number.isSafeInteger(maxEvents) || maxEvents < 1) {
    throw new Error('maxEvents must be a whole number, 1 or more');
  }
  const events: TraceEvent[] = [];
  let nextId = 1;
  let dropped = 0;
  let closed = false;

  const drop = (reason: string): void => {
    dropped += 1;
    if (dropped === 1) onFirstDrop?.(reason);
  };

  const keep = (event: TraceInput | string, data: unknown): void => {
    if (closed) throw new Error('The trace store is closed');
    const prepared = prepareTrace(toTraceInput(event, data), clock.now(), redact);
    const kept = { id: nextId, ...prepared.event };
    nextId += 1;
    if (events.push(kept) > maxEvents) {
      events.shift();
      drop(`more than ${maxEvents} events`);
    }
    onEvent?.(kept);
  };

  const matching = (wanted: TraceFilter): TraceEvent[] => {
    const filter = toStoredFilter(wanted);
    const { limit = events.length } = filter;
    if (limit <= 0) return [];
    return events.filter((event) => matches(event, filter)).slice(-limit);
  };

  return {
    record(event: TraceInput | string, data?: unknown) {
      if (strict) {
        keep(event, data);
        return;
      }
      const before = nextId;
      try {
        keep(event, data);
      } catch (error) {
        // An observer that throws has still seen a stored event.
        if (nextId > before) return;
        try {
          drop(describeThrown(error));
        } catch {
          // Nobody is left to be told.
        }
      }
    },
    getTrace: (requestId) => Promise.resolve(matching({ requestId })),
    query: (filter) => Promise.resolve(matching(filter)),
    // oxlint-disable-next-line typescript/require-await
    async *scan(filter) {
      yield* matching(filter);
    },
    dropped: () => dropped,
    flush: () => Promise.resolve(),
    close() {
      closed = true;
      return Promise.resolve();
    },
  };
}

function matches(event: TraceEvent, filter: StoredFilter): boolean {
  return (
    (filter.projectId === undefined || event.projectId === filter.projectId) &&
    (filter.requestId === undefined || event.requestId === filter.requestId) &&
    (filter.sessionId === undefined || event.sessionId === filter.sessionId) &&
    (filter.type === undefined || event.type === filter.type) &&
    (filter.from === undefined || event.timestamp >= filter.from) &&
    (filter.to === undefined || event.timestamp <= filter.to)
  );
}

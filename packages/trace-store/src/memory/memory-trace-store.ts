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
  /** Beyond it the oldest events are dropped and counted; 10,000 when left out. */
  readonly maxEvents?: number;
  /** Sees every event as it is stored, already redacted. */
  readonly onEvent?: (event: TraceEvent) => void;
  /** Removes the keys in use from every text. */
  readonly redact?: Redact;
  /** Called once, when the first event is dropped; `dropped()` has the count (R228). */
  readonly onFirstDrop?: (reason: string) => void;
  /** Makes `record` throw if an event cannot be kept, for tests and for callers who would rather stop (R228). */
  readonly strict?: boolean;
};

const DEFAULT_MAX_EVENTS = 10_000;

/**
 * Traces in memory, for as long as the process lives.
 *
 * 1. `record` never throws and never waits, unless `strict` is set (R228).
 * 2. Events are copies: a caller that changes its object afterwards does not change the event.
 * 3. Ids grow by one and are never reused, so that a gap means dropped events.
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
        // The event is stored even if its observer threw.
        if (nextId > before) return;
        try {
          drop(describeThrown(error));
        } catch {
          // There is nobody left to report to.
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
    (filter.to === undefined || event.timestamp <= filter.to) &&
    (filter.afterId === undefined || event.id > filter.afterId) &&
    (filter.beforeId === undefined || event.id < filter.beforeId)
  );
}

import type { Clock, Redact, TraceEvent, TraceInput, TraceStore } from '@orion/contracts';
import { createMemoryTraceStore } from '@orion/trace-store';

/**
 * Traces for a store that was passed in: it gets each event as our own stores keep it, safe as JSON and without the keys
 * in use, which it does not know. `onEvent` sees the same.
 */
export function redactTraces(
  store: TraceStore,
  options: {
    readonly clock: Clock;
    readonly strict: boolean;
    readonly redact: Redact;
    readonly onEvent: ((event: TraceEvent) => void) | undefined;
  },
): TraceStore {
  let prepared: TraceEvent | null = null;
  // It keeps nothing: events are prepared in it.
  const preparing = createMemoryTraceStore({
    ...options,
    maxEvents: 1,
    onEvent(event) {
      prepared = event;
      options.onEvent?.(event);
    },
  });
  return {
    record(event: TraceInput | string, data?: unknown) {
      prepared = null;
      if (typeof event === 'string') preparing.record(event, data);
      else preparing.record(event);
      if (prepared !== null) store.record(prepared);
    },
    getTrace: (requestId) => store.getTrace(requestId),
    query: (filter) => store.query(filter),
    scan: (filter) => store.scan(filter),
    dropped: () => store.dropped(),
    flush: () => store.flush(),
    close: (cut) => store.close(cut),
  };
}

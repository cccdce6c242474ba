import type { TraceInput, TraceStore } from '@orion/contracts';

/** Traces that go to the store and are seen by a second one too, first: it may refuse them. */
export function mirrorTraces(store: TraceStore, mirror: TraceStore): TraceStore {
  return {
    record(event: TraceInput | string, data?: unknown) {
      for (const each of [mirror, store]) {
        if (typeof event === 'string') each.record(event, data);
        else each.record(event);
      }
    },
    getTrace: (requestId) => store.getTrace(requestId),
    query: (filter) => store.query(filter),
    scan: (filter) => store.scan(filter),
    dropped: () => store.dropped(),
    flush: () => store.flush(),
    close: (cut) => store.close(cut),
  };
}

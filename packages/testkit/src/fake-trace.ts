import type { TraceInput, TraceRecorder } from '@orion/contracts';

/** A recorder that keeps what it is given, for tests of code that records. */
export interface FakeTrace extends TraceRecorder {
  readonly events: readonly TraceInput[];
  ofType(type: string): TraceInput[];
}

export function createFakeTrace(): FakeTrace {
  const events: TraceInput[] = [];
  return {
    events,
    ofType: (type) => events.filter((event) => event.type === type),
    record(first: TraceInput | string, data?: unknown) {
      events.push(typeof first === 'string' ? { type: first, details: data } : first);
    },
  };
}

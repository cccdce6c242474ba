import { sleep, systemClock } from '@orion/contracts';
import type { TraceAnswer, TracedEvent } from '@orion/contracts';
import { useEffect, useRef, useState } from 'react';

import type { ApiError } from '../api/api.ts';
import { useServices } from '../api/context.tsx';

const PAGE = 1000;
/** Events that are read without being asked for. */
export const MOST_EVENTS = 50_000;
/** Before a turn that is not over is looked at again. */
const AGAIN_MS = 2000;

export type Trace = {
  readonly events: readonly TracedEvent[];
  /** Whether everything that was recorded so far is in `events`. */
  readonly isWhole: boolean;
  /** No further events are read; there are more of them. */
  readonly isCut: boolean;
  readonly error: Error | null;
};

const NOTHING: Trace = { events: [], isWhole: false, isCut: false, error: null };

/**
 * The events of a turn, read by pages, and those that follow until it ends.
 *
 * The list that is shown grows by doubling, so that what follows from it costs in proportion to its end.
 */
export function useTrace(requestId: string): Trace & { readonly retry: () => void } {
  const { api } = useServices();
  const [trace, setTrace] = useState<Trace>(NOTHING);
  const [tries, setTries] = useState(0);
  const read = useRef<TracedEvent[]>([]);
  useEffect(() => {
    const closed = new AbortController();
    const { signal } = closed;
    const { current: events } = read;
    const show = (more: Partial<Trace>): void =>
      setTrace({ ...NOTHING, events: events.slice(), ...more });
    const readPage = async (): Promise<number | null> => {
      const after = String(events.at(-1)?.id ?? 0);
      const query = new URLSearchParams({ requestId, limit: String(PAGE), after });
      const answer = await api.call<TraceAnswer>(`/api/traces?${query.toString()}`, { signal });
      events.push(...answer.events);
      return answer.next;
    };
    const follow = async (): Promise<void> => {
      for (let shown = 0; !signal.aborted;) {
        const next = await readPage();
        if (next === null) {
          if (events.length !== shown || shown === 0) show({ isWhole: true });
          shown = events.length;
          if (events.at(-1)?.type === 'turn_ended') return;
          await sleep(systemClock, AGAIN_MS, signal);
        } else if (events.length >= MOST_EVENTS) {
          return show({ isCut: true });
        } else if (events.length >= shown * 2) {
          show({});
          shown = events.length;
        }
      }
    };
    follow().catch((error: unknown) => {
      if (!signal.aborted) show({ error: error as ApiError });
    });
    return () => closed.abort();
  }, [api, requestId, tries]);
  return { ...trace, retry: () => setTries((count) => count + 1) };
}

import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';

import { useRead } from '../api/context.tsx';
import { LongJson } from '../ui/long-json.tsx';
import { Loaded } from '../ui/states.tsx';
import type { TraceRow } from './trace-rows.ts';

/** Everything that is stored of one event. It takes the focus; Escape or Close give it back. */
export function EventDetails({
  requestId,
  row: { event },
  closed,
}: {
  readonly requestId: string;
  readonly row: TraceRow;
  readonly closed: () => void;
}): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [event.id]);
  const path = `/api/traces/${encodeURIComponent(requestId)}/events/${event.id}`;
  const found = useRead<unknown>(path);
  return (
    <section
      className="drawer"
      aria-labelledby="trace-details"
      onKeyDown={(pressed) => {
        if (pressed.key !== 'Escape') return;
        pressed.preventDefault();
        closed();
      }}
    >
      <div className="actions">
        <h2 ref={heading} id="trace-details" tabIndex={-1}>
          {event.type}
        </h2>
        <button type="button" onClick={closed}>
          Close
        </button>
      </div>
      <Loaded query={found}>
        {(details) => <LongJson value={details} name={`${requestId}-${event.id}`} />}
      </Loaded>
    </section>
  );
}

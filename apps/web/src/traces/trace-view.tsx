import { useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';

import type { ApiError } from '../api/api.ts';
import { FindForm } from '../ui/find-form.tsx';
import { counted, formatCount } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { Empty, Problem, Skeleton } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';
import { EventDetails } from './event-details.tsx';
import { LimitStrip } from './limit-strip.tsx';
import { OverviewCanvas } from './overview.tsx';
import { TraceGrid } from './trace-grid.tsx';
import { findRow, rowsOf, withoutPhases } from './trace-rows.ts';
import type { TraceRow } from './trace-rows.ts';
import { useTrace } from './use-trace.ts';

/** What happened in one turn, in its order; the details of an event are read when they are asked for. */
export function TraceView({ requestId }: { readonly requestId: string }): ReactNode {
  const { events, isWhole, isCut, error, retry } = useTrace(requestId);
  const rows = useMemo(() => rowsOf(events), [events]);
  const end = events.findLast(({ type }) => type === 'turn_ended');
  const isMissing = (error as ApiError | null)?.code === 'TRACE_NOT_FOUND';
  return (
    <>
      <Title>Trace</Title>
      <p className="faint">
        <Name>{requestId}</Name>
      </p>
      {isMissing && (
        <Empty command="orion trace list">Nothing is recorded of this turn, or not yet.</Empty>
      )}
      {error !== null && !isMissing && <Problem error={error} retry={retry} />}
      {error === null && rows.length === 0 && !isWhole && <Skeleton />}
      {rows.length > 0 && (
        <>
          {end !== undefined && <LimitStrip end={end} />}
          <p className="faint" role="status">
            {counted(rows.length, 'event')}
            {isCut && (
              <>
                ; there are more, which{' '}
                <code>
                  orion trace export --request <Name>{requestId}</Name>
                </code>{' '}
                prints
              </>
            )}
            {!isCut && !isWhole && error === null && ' so far'}
          </p>
          <Rows requestId={requestId} rows={rows} />
        </>
      )}
    </>
  );
}

function Rows({
  requestId,
  rows,
}: {
  readonly requestId: string;
  readonly rows: readonly TraceRow[];
}): ReactNode {
  const grid = useRef<HTMLDivElement>(null);
  const [closedPhases, setClosedPhases] = useState<ReadonlySet<number>>(new Set());
  const [activeId, setActiveId] = useState<number | null>(null);
  const [opened, setOpened] = useState<TraceRow | null>(null);
  const shown = useMemo(() => withoutPhases(rows, closedPhases), [rows, closedPhases]);
  const active = useMemo(
    () =>
      Math.max(
        0,
        shown.findIndex(({ event }) => event.id === activeId),
      ),
    [shown, activeId],
  );
  const setPhase = (phase: number, isOpen: boolean): void => {
    const closed = new Set(closedPhases);
    if (isOpen) closed.delete(phase);
    else closed.add(phase);
    setClosedPhases(closed);
  };
  /** Also where the row is inside of a phase that is closed. */
  const goTo = (row: TraceRow): void => {
    if (row.phase !== null) setPhase(row.phase, true);
    setActiveId(row.event.id);
  };
  return (
    <>
      <FindForm
        label="Find an event, or :number"
        find={(wanted, by) => {
          const from = rows.findIndex(({ event }) => event.id === shown[active]?.event.id);
          const found = findRow(rows, wanted, from, by);
          const row = rows[found];
          if (row === undefined) return 'No such event';
          goTo(row);
          return `Event ${formatCount(found + 1)}`;
        }}
      />
      <OverviewCanvas rows={rows} choose={goTo} />
      <p className="faint overview-legend" aria-hidden="true">
        From the top: phases, model calls, tools, writes, approvals. A line through all of them is
        an error, a mark below them a seam.
      </p>
      <div className="trace" data-open={opened !== null}>
        <TraceGrid
          ref={grid}
          rows={shown}
          active={active}
          closedPhases={closedPhases}
          setActive={(index) => setActiveId(shown[index]?.event.id ?? null)}
          setPhase={setPhase}
          open={setOpened}
        />
        {opened !== null && (
          <EventDetails
            requestId={requestId}
            row={opened}
            closed={() => {
              setOpened(null);
              grid.current?.focus();
            }}
          />
        )}
      </div>
    </>
  );
}

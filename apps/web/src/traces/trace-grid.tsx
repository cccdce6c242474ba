import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode, RefObject } from 'react';

import { formatCount } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import type { TraceRow } from './trace-rows.ts';

/** Until it is measured: it grows with the letters of the page. */
const ROW_HEIGHT = 28;
/** A step of Page Up and Page Down, in rows. */
const PAGE = 20;

export type TraceGridProps = {
  readonly rows: readonly TraceRow[];
  /** The index of the row that keys act on. */
  readonly active: number;
  readonly closedPhases: ReadonlySet<number>;
  readonly setActive: (index: number) => void;
  readonly setPhase: (phase: number, isOpen: boolean) => void;
  readonly open: (row: TraceRow) => void;
  readonly ref: RefObject<HTMLDivElement | null>;
};

/**
 * Rows of which only those in sight are drawn. The grid has the focus and names the active row, so that no row that
 * goes out of sight can take the focus with it.
 */
export function TraceGrid(props: TraceGridProps): ReactNode {
  const { rows, active, closedPhases, setActive, open, ref } = props;
  const head = useRef<HTMLDivElement>(null);
  const rowHeight = useHeight(head, ROW_HEIGHT);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => ref.current,
    estimateSize: () => rowHeight,
    scrollPaddingStart: rowHeight,
    overscan: PAGE,
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  useEffect(() => {
    if (rows[active] !== undefined) virtual.scrollToIndex(active, { align: 'auto' });
  }, [virtual, rows, active]);
  return (
    <div
      ref={ref}
      className="trace-grid"
      role="treegrid"
      aria-label="Events of the turn"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={rows[active] === undefined ? undefined : rowId(rows[active])}
      data-row
      tabIndex={0}
      onKeyDown={(event) => pressed(event, props)}
    >
      <div ref={head} role="row" aria-rowindex={1} className="trace-head">
        <span role="columnheader">Event</span>
        <span role="columnheader">After</span>
        <span role="columnheader">Took</span>
        <span role="columnheader">What</span>
      </div>
      <div role="rowgroup" className="trace-body" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const { event, level, phase, offsetMs, durationMs, isSeam } = row;
          const isPhase = event.type === 'phase_start' && phase !== null;
          return (
            <div
              key={event.id}
              id={rowId(row)}
              role="row"
              aria-rowindex={index + 2}
              aria-level={level}
              aria-expanded={isPhase ? !closedPhases.has(phase) : undefined}
              aria-selected={index === active}
              className="trace-row"
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => {
                setActive(index);
                open(row);
              }}
            >
              <span role="gridcell">{event.type}</span>
              <span role="gridcell">+{formatSeconds(offsetMs)}</span>
              <span role="gridcell">{durationMs !== null && formatSeconds(durationMs)}</span>
              <span role="gridcell">
                {event.hasError && <strong>error </strong>}
                {isSeam && '═ '}
                {event.toolName !== null && <Name>{event.toolName}</Name>}{' '}
                <bdi>{event.summary}</bdi>
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function useHeight(ref: RefObject<HTMLElement | null>, first: number): number {
  const [height, setHeight] = useState(first);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.offsetHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return height;
}

const rowId = ({ event }: TraceRow): string => `trace-${event.id}`;

/** With its unit; to the millisecond below ten seconds. */
function formatSeconds(milliseconds: number): string {
  return milliseconds < 10_000
    ? `${(milliseconds / 1000).toFixed(3)} s`
    : `${formatCount(Math.round(milliseconds / 100) / 10)} s`;
}

function pressed(
  event: KeyboardEvent,
  { rows, active, closedPhases, setActive, setPhase, open }: TraceGridProps,
): void {
  const row = rows[active];
  if (row === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  const move = (to: number): void => setActive(Math.max(0, Math.min(rows.length - 1, to)));
  const parent = rows.findLastIndex(({ level }, index) => index < active && level === 1);
  const { phase } = row;
  const isOpenPhase =
    row.event.type === 'phase_start' && phase !== null ? !closedPhases.has(phase) : null;
  const actions: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    j: () => move(active + 1),
    k: () => move(active - 1),
    PageDown: () => move(active + PAGE),
    PageUp: () => move(active - PAGE),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: () => open(row),
    ArrowRight: () => {
      if (isOpenPhase === false && phase !== null) setPhase(phase, true);
      else if (isOpenPhase === true) move(active + 1);
    },
    ArrowLeft: () => {
      if (isOpenPhase === true && phase !== null) setPhase(phase, false);
      else if (row.level === 2) move(parent);
    },
  };
  const action = actions[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
}

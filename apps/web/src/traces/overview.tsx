import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';

import { overviewOf, rowAtColumn } from './overview-lanes.ts';
import type { Overview } from './overview-lanes.ts';
import { KINDS } from './trace-rows.ts';
import type { TraceRow } from './trace-rows.ts';

const LANE_HEIGHT = 10;
/** Of all lanes, and of the seams below them. */
const HEIGHT = KINDS.length * (LANE_HEIGHT + 2) + 8;
const MOST_COLUMNS = 2000;

/** The whole turn on one line: phases, model calls, tools, writes and approvals, errors and seams. A click leads to its row. */
export function OverviewCanvas({
  rows,
  choose,
}: {
  readonly rows: readonly TraceRow[];
  readonly choose: (row: TraceRow) => void;
}): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [columns, setColumns] = useState(0);
  const theme = useTheme();
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const observer = new ResizeObserver(() =>
      setColumns(Math.min(MOST_COLUMNS, Math.floor(element.clientWidth))),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current !== null && columns > 0) draw(canvas.current, overviewOf(rows, columns));
  }, [rows, columns, theme]);
  return (
    <canvas
      ref={canvas}
      className="overview"
      // Everything in it is in the rows, too, and can be reached there.
      aria-hidden="true"
      width={columns}
      height={HEIGHT}
      onClick={({ nativeEvent: { offsetX } }) => {
        const row = rows[rowAtColumn(rows, offsetX, columns)];
        if (row !== undefined) choose(row);
      }}
    />
  );
}

const THEMES = ['(prefers-color-scheme: dark)', '(forced-colors: active)'];

/** Changes when the colours of the page do. */
function useTheme(): number {
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const closed = new AbortController();
    const changed = (): void => setTheme((count) => count + 1);
    for (const query of THEMES)
      matchMedia(query).addEventListener('change', changed, { signal: closed.signal });
    return () => closed.abort();
  }, []);
  return theme;
}

function draw(canvas: HTMLCanvasElement, { lanes, errors, seams }: Overview): void {
  const brush = canvas.getContext('2d');
  if (brush === null) return;
  const style = getComputedStyle(canvas);
  brush.clearRect(0, 0, canvas.width, canvas.height);
  for (const [index, { runs }] of lanes.entries()) {
    brush.fillStyle = index % 2 === 0 ? style.accentColor : style.color;
    for (const { from, columns } of runs)
      brush.fillRect(from, index * (LANE_HEIGHT + 2), columns, LANE_HEIGHT);
  }
  // Not by colour alone: errors go through all lanes, seams are below them.
  brush.fillStyle = style.caretColor;
  for (const column of errors) brush.fillRect(column, 0, 2, canvas.height);
  brush.fillStyle = style.color;
  for (const column of seams) brush.fillRect(column, canvas.height - 6, 3, 6);
}

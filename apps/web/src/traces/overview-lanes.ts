import { KINDS } from './trace-rows.ts';
import type { TraceKind, TraceRow } from './trace-rows.ts';

/** Columns of one lane of the overview in which something was under way. */
export type Lane = { readonly kind: TraceKind; readonly runs: readonly Run[] };
/** From a column on, so many of them. */
export type Run = { readonly from: number; readonly columns: number };

export type Overview = {
  readonly lanes: readonly Lane[];
  /** Columns with an error, and with a seam. */
  readonly errors: readonly number[];
  readonly seams: readonly number[];
};

/** The whole turn in so many columns. Costs in proportion to rows and columns, however long the spans are. */
export function overviewOf(rows: readonly TraceRow[], columns: number): Overview {
  const columnOf = columnScale(rows, columns);
  const begins = new Map(KINDS.map((kind) => [kind, new Int32Array(columns + 1)]));
  const errors = new Set<number>();
  const seams = new Set<number>();
  for (const { kind, offsetMs, durationMs, event, isSeam } of rows) {
    const from = columnOf(offsetMs);
    const steps = begins.get(kind);
    if (steps !== undefined) {
      steps[from] = (steps[from] ?? 0) + 1;
      const behind = columnOf(offsetMs + (durationMs ?? 0)) + 1;
      steps[behind] = (steps[behind] ?? 0) - 1;
    }
    if (event.hasError) errors.add(from);
    if (isSeam) seams.add(from);
  }
  return {
    lanes: KINDS.map((kind) => ({ kind, runs: runsOf(begins.get(kind) ?? new Int32Array()) })),
    errors: [...errors],
    seams: [...seams],
  };
}

/** The first row at or behind a column; the last one if there is none. */
export function rowAtColumn(rows: readonly TraceRow[], column: number, columns: number): number {
  const columnOf = columnScale(rows, columns);
  const found = rows.findIndex(({ offsetMs }) => columnOf(offsetMs) >= column);
  return found === -1 ? rows.length - 1 : found;
}

function columnScale(rows: readonly TraceRow[], columns: number): (ms: number) => number {
  let most = 1;
  for (const { offsetMs, durationMs } of rows) most = Math.max(most, offsetMs + (durationMs ?? 0));
  // A clock that was set back in the turn makes offsets negative.
  return (ms) => Math.max(0, Math.min(columns - 1, Math.floor((ms / most) * columns)));
}

function runsOf(steps: Int32Array): readonly Run[] {
  const runs: Run[] = [];
  let open = 0;
  let from = 0;
  for (const [column, step] of steps.entries()) {
    const before = open;
    open += step;
    if (before === 0 && open > 0) from = column;
    if (before > 0 && open === 0) runs.push({ from, columns: column - from });
  }
  return runs;
}

import type { TracedEvent } from '@orion/contracts';

/** What an event is about; each has a lane in the overview. */
export const KINDS = ['phase', 'model', 'tool', 'write', 'approval'] as const;
export type TraceKind = (typeof KINDS)[number];

/** An event of a turn, as a row. */
export type TraceRow = {
  readonly event: TracedEvent;
  readonly kind: TraceKind;
  /** 1: of the turn, or the begin of a phase; 2: within a phase. */
  readonly level: 1 | 2;
  /** The phase that it belongs to; null outside of all. */
  readonly phase: number | null;
  /** Since the first event. */
  readonly offsetMs: number;
  /** Of a phase, or a call; null where the event is one moment, or its end was not recorded. */
  readonly durationMs: number | null;
  /** A line of the file at which text was joined. */
  readonly isSeam: boolean;
};

/** What begins, and what ends it. */
const SPANS: Readonly<Record<string, string>> = {
  phase_start: 'phase_end',
  llm_call: 'llm_result',
  tool_call: 'tool_result',
  approval_requested: 'approval_decided',
};
const ENDS: ReadonlySet<string> = new Set(Object.values(SPANS));

/** The rows of events that are in order. Each event is one row, so that a number means the same everywhere. */
export function rowsOf(events: readonly TracedEvent[]): readonly TraceRow[] {
  const start = events[0]?.timestamp ?? 0;
  const ends = endsOf(events);
  let open: number | null = null;
  return events.map((event, index) => {
    const { type, phaseIndex } = event;
    if (type === 'phase_start') open = phaseIndex;
    if (type === 'turn_ended') open = null;
    const phase = open;
    if (type === 'phase_end') open = null;
    const end = ends.get(index);
    return {
      event,
      kind: kindOf(event),
      level: phase === null || type === 'phase_start' ? 1 : 2,
      phase,
      offsetMs: event.timestamp - start,
      durationMs: end === undefined ? null : end - event.timestamp,
      isSeam: type.startsWith('seam_'),
    };
  });
}

/** When that which begins with an event ended, by the index of the event. The first call ends first. */
function endsOf(events: readonly TracedEvent[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  /** Indexes of begins without an end yet, and how many of them have one. */
  const open = new Map<string, { readonly begins: number[]; ended: number }>();
  for (const [index, { type, phaseIndex, toolName, timestamp }] of events.entries()) {
    const end = SPANS[type];
    if (end === undefined && !ENDS.has(type)) continue;
    const key = `${end ?? type} ${phaseIndex} ${toolName}`;
    const spans = open.get(key) ?? { begins: [], ended: 0 };
    open.set(key, spans);
    if (end !== undefined) spans.begins.push(index);
    else {
      const begin = spans.begins[spans.ended];
      if (begin === undefined) continue;
      spans.ended += 1;
      ends.set(begin, timestamp);
    }
  }
  return ends;
}

const MODEL = /^(?:llm_|controller_|model_|nudge|probe)/u;
const TOOL = /^(?:tool_|duplicate_)/u;
const PHASE = /^(?:phase_|turn_|budget_)/u;

function kindOf({ type }: TracedEvent): TraceKind {
  if (PHASE.test(type)) return 'phase';
  if (MODEL.test(type)) return 'model';
  if (type.startsWith('approval_')) return 'approval';
  return TOOL.test(type) ? 'tool' : 'write';
}

/** Without the inside of these phases. */
export function withoutPhases(
  rows: readonly TraceRow[],
  closed: ReadonlySet<number>,
): readonly TraceRow[] {
  if (closed.size === 0) return rows;
  return rows.filter(({ level, phase }) => level === 1 || phase === null || !closed.has(phase));
}

/** What a row says, as one text to search in. */
export function wordsOf({ event: { type, toolName, summary } }: TraceRow): string {
  return [type, toolName, summary].filter((word) => word !== null).join(' ');
}

/**
 * The index of the row that a search leads to from a row, around the end if need be: the next one with the text, or
 * with `:120` the 120th. -1 if there is none.
 */
export function findRow(
  rows: readonly TraceRow[],
  wanted: string,
  from: number,
  by: 1 | -1,
): number {
  const [, number] = /^:(\d{1,9})$/u.exec(wanted) ?? [];
  if (number !== undefined) return rows[Number(number) - 1] === undefined ? -1 : Number(number) - 1;
  const text = wanted.toLowerCase();
  for (let step = 1; step <= rows.length; step += 1) {
    const index = (from + by * step + rows.length * 2) % rows.length;
    const row = rows[index];
    if (row !== undefined && wordsOf(row).toLowerCase().includes(text)) return index;
  }
  return -1;
}

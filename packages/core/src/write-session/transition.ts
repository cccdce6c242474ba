import type { ControlEvent, ControlLimits, ControlState, Transition } from './control.ts';
import { fromIdle } from './transition/from-idle.ts';
import { fromAwaitingContent } from './transition/from-awaiting-content.ts';
import { fromAwaitingMore } from './transition/from-awaiting-more.ts';
import { fromAwaitingAnswer } from './transition/from-awaiting-answer.ts';
import { fromFinalizing } from './transition/from-finalizing.ts';
import { fromNeedsCorrections } from './transition/from-needs-corrections.ts';
import { fromPaused } from './transition/from-paused.ts';
import type { Rows } from './transition/rows.ts';

type Kind = ControlState['kind'];
type Row = (state: ControlState, event: ControlEvent, limits: ControlLimits) => Transition;

/** A column for each state, with shared rows and its own. After `done` and `aborted`, the next begin starts a session. */
const COLUMNS: { readonly [K in Kind]: Rows<Extract<ControlState, { readonly kind: K }>> } = {
  idle: fromIdle,
  awaiting_content: fromAwaitingContent,
  awaiting_more: fromAwaitingMore,
  awaiting_answer: fromAwaitingAnswer,
  finalizing: fromFinalizing,
  needs_corrections: fromNeedsCorrections,
  paused: fromPaused,
  done: fromIdle,
  aborted: fromIdle,
};

/**
 * The state table of a write session: a pure function, and the only way to change the state.
 *
 * Invariants
 * T1  Only a terminal marker, an answer, or a person's command finalizes; a timer alone never does.
 * T2  Every transition out of a state with content saves it first, or hands it to the commit.
 * T3  Text that may not belong to the file never reaches `buffer`.
 */
export function transition(
  state: ControlState,
  event: ControlEvent,
  limits: ControlLimits,
): Transition {
  // The compiler cannot see that a state and its column, or an event and its row, belong together.
  const row = COLUMNS[state.kind][event.type] as Row;
  return row(state, event, limits);
}

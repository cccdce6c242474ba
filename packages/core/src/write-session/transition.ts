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

/** A column for each state; its rows are shared or its own. Both that end a session meet none: what comes next begins one. */
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
 * The state table of a write session: one pure function, one door for every change of state.
 *
 * Invariants
 * T1  Nothing here finalizes except a terminal marker, an answer, or a person's command: never a timer alone.
 * T2  Every way out of a state with content saves it first, or hands it to the commit.
 * T3  A text that may not belong to the file never reaches `buffer`.
 */
export function transition(
  state: ControlState,
  event: ControlEvent,
  limits: ControlLimits,
): Transition {
  // A state's own column takes it, and a row its own event; the compiler does not see that they belong together.
  const row = COLUMNS[state.kind][event.type] as Row;
  return row(state, event, limits);
}

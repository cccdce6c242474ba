import type { ControlEvent, ControlLimits, ControlState, Transition } from './control.ts';
import { fromIdle } from './transition/from-idle.ts';
import { fromAwaitingContent } from './transition/from-awaiting-content.ts';
import { fromAwaitingMore } from './transition/from-awaiting-more.ts';
import { fromAwaitingAnswer } from './transition/from-awaiting-answer.ts';
import { fromFinalizing } from './transition/from-finalizing.ts';
import { fromNeedsCorrections } from './transition/from-needs-corrections.ts';
import { fromPaused } from './transition/from-paused.ts';

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
  switch (state.kind) {
    case 'idle':
      return fromIdle(event);
    case 'awaiting_content':
      return fromAwaitingContent(state, event, limits);
    case 'awaiting_more':
      return fromAwaitingMore(state, event, limits);
    case 'awaiting_answer':
      return fromAwaitingAnswer(state, event, limits);
    case 'finalizing':
      return fromFinalizing(state, event);
    case 'needs_corrections':
      return fromNeedsCorrections(state, event);
    case 'paused':
      return fromPaused(state, event);
    case 'done':
    case 'aborted':
      // Both reset the controller: what comes now meets no session.
      return fromIdle(event);
    default:
      return state satisfies never;
  }
}

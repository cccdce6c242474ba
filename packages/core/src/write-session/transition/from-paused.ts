import type { Paused } from '../control.ts';
import { aborted, emptySession, finalizing, moved, recovered, refused } from './moves.ts';
import { sharedRows } from './rows.ts';
import type { Rows } from './rows.ts';

export const fromPaused: Rows<Paused> = {
  ...sharedRows,
  begin_ok: () => moved(emptySession, 'park', 'take_lease'),
  recover_accepted: (_state, event) => recovered(event),
  recover_declined: () => aborted('SESSION_ABORTED', 'move_to_attic'),
  save_failed: (state) => moved(state),
  graceful_stop: (state) => moved(state, 'save', 'release', 'exit'),
  finalize_command: (state, { answered }) =>
    state.question !== null && !answered
      ? refused('QUESTION_OPEN')
      : moved(finalizing, 'save', 'finalize'),
};

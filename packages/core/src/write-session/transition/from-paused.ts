import type { Paused } from '../control.ts';
import { emptySession, finalized, moved, recovered, refused } from './outcomes.ts';
import { sharedRows } from './rows.ts';
import type { Rows } from './rows.ts';

export const fromPaused: Rows<Paused> = {
  ...sharedRows,
  begin_ok: () => moved(emptySession, 'park'),
  recover_accepted: recovered,
  save_failed: (state) => moved(state),
  graceful_stop: (state) => moved(state, 'save', 'release'),
  finalize_command: (state, { answered }) =>
    state.question !== null && !answered ? refused('QUESTION_OPEN') : finalized('save'),
};

import type { ControlEffect, NeedsCorrections, Transition } from '../control.ts';
import { MAX_CORRECTION_ROUNDS } from '../control.ts';
import { finalized, invalid, moved, paused } from './outcomes.ts';
import { listeningRows } from './rows.ts';
import type { Rows } from './rows.ts';

/** A round without a result counts too: neither a crash nor a pause repeats it. */
const UNANSWERED: ControlEffect = { type: 'end_round', corrections: [] };

const appended = (state: NeedsCorrections, { text }: { readonly text: string }): Transition =>
  moved(state, { type: 'append_reply', text });
const parsed = (state: NeedsCorrections): Transition =>
  moved(state, { type: 'parse_reply', end: { kind: 'stop' } });

export const fromNeedsCorrections: Rows<NeedsCorrections> = {
  ...listeningRows,
  text: appended,
  blank_text: appended,
  // It is a line of the reply.
  end_marker: () => invalid,
  message_end_terminal: parsed,
  message_end_question: parsed,
  message_end_open: parsed,
  message_end_length: nextRound,
  // Without a budget no round can be asked for, and the model could still correct what would be replaced.
  stream_error: (state, { code }) =>
    code === 'BUDGET_EXHAUSTED' ? paused(code, null, UNANSWERED) : nextRound(state),
  idle_elapsed: nextRound,
  correction_usable: (_state, { corrections }) =>
    finalized({ type: 'end_round', corrections }, 'save'),
  correction_unusable: nextRound,
  limit_exceeded: () => invalid,
};

function nextRound(state: NeedsCorrections): Transition {
  const round = state.round + 1;
  if (round >= MAX_CORRECTION_ROUNDS) return finalized(UNANSWERED, 'safe_replacement', 'save');
  return moved({ ...state, round }, UNANSWERED, 'save', 'ask_corrections');
}

import type { NeedsCorrections, Transition } from '../control.ts';
import { MAX_CORRECTION_ROUNDS } from '../control.ts';
import { finalizing, invalid, moved, paused } from './moves.ts';
import { listeningRows } from './rows.ts';
import type { Rows } from './rows.ts';

const appended = (state: NeedsCorrections): Transition => moved(state, 'append_reply');
const parsed = (state: NeedsCorrections): Transition => moved(state, 'parse_reply');

export const fromNeedsCorrections: Rows<NeedsCorrections> = {
  ...listeningRows,
  text: appended,
  blank_text: appended,
  end_marker: appended,
  message_end_terminal: parsed,
  message_end_question: parsed,
  message_end_open: parsed,
  message_end_length: nextRound,
  // Rounds that nobody may ask for would only end in replacing what the model could still correct.
  stream_error: (state, { code }) =>
    code === 'BUDGET_EXHAUSTED' ? paused(code) : nextRound(state),
  idle_elapsed: nextRound,
  correction_usable: () => moved(finalizing, 'save', 'finalize'),
  correction_unusable: nextRound,
  limit_exceeded: () => invalid,
};

function nextRound(state: NeedsCorrections): Transition {
  const round = state.round + 1;
  if (round >= MAX_CORRECTION_ROUNDS)
    return moved(finalizing, 'safe_replacement', 'save', 'finalize');
  return moved({ kind: 'needs_corrections', round }, 'save', 'ask_corrections');
}

import type { ControlEvent, NeedsCorrections, Transition } from '../control.ts';
import { MAX_CORRECTION_ROUNDS } from '../control.ts';
import { aborted, finalizing, ignored, invalid, moved, paused, refused } from './moves.ts';

export function fromNeedsCorrections(state: NeedsCorrections, event: ControlEvent): Transition {
  switch (event.type) {
    case 'begin_ok':
      return refused('SESSION_ALREADY_ACTIVE');
    case 'begin_rejected':
      return moved(state);
    case 'text':
    case 'blank_text':
    case 'end_marker':
      return moved(state, 'append_reply');
    case 'message_end_terminal':
    case 'message_end_question':
    case 'message_end_open':
      return moved(state, 'parse_reply');
    case 'correction_usable':
      return moved(finalizing, 'save', 'finalize');
    case 'correction_unusable':
    case 'message_end_length':
      return nextRound(state);
    case 'stream_error':
      // Rounds that nobody may ask for would only end in replacing what the model could still correct.
      return event.code === 'BUDGET_EXHAUSTED' ? paused(event.code) : nextRound(state);
    case 'idle_elapsed':
      return nextRound(state);
    case 'tool_called':
      return refused('SESSION_BUSY');
    case 'save_due':
      return moved(state, 'write_state');
    case 'save_failed':
      return moved(state, 'degrade');
    case 'cancelled':
      return paused('ABORTED');
    case 'abort':
      return aborted('SESSION_ABORTED', 'move_to_attic');
    case 'graceful_stop':
      return moved({ kind: 'paused', code: 'ABORTED', question: null }, 'save', 'release', 'exit');
    case 'inactive':
      return moved({ kind: 'idle' }, 'save', 'release');
    case 'recover_accepted':
      return refused('SESSION_ALREADY_ACTIVE');
    case 'lease_lost':
      return moved({ kind: 'idle' }, 'warn_lost');
    case 'finalize_command':
      return moved(finalizing, 'save', 'finalize');
    case 'settle_elapsed':
    case 'recover_declined':
      return ignored;
    case 'seam_verified':
    case 'seam_hopeless':
    case 'question_due':
    case 'answer':
    case 'document_again':
    case 'limit_exceeded':
    case 'finalize_ok':
    case 'finalize_needs_corrections':
    case 'finalize_retryable':
    case 'finalize_refused':
      return invalid;
    default:
      return event satisfies never;
  }
}

function nextRound(state: NeedsCorrections): Transition {
  const round = state.round + 1;
  if (round >= MAX_CORRECTION_ROUNDS)
    return moved(finalizing, 'safe_replacement', 'save', 'finalize');
  return moved({ kind: 'needs_corrections', round }, 'save', 'ask_corrections');
}

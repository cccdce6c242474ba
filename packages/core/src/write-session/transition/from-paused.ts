import type { ControlEvent, Paused, Transition } from '../control.ts';
import {
  aborted,
  emptySession,
  finalizing,
  ignored,
  invalid,
  moved,
  ordinary,
  paused,
  recovered,
  refused,
} from './moves.ts';

export function fromPaused(state: Paused, event: ControlEvent): Transition {
  switch (event.type) {
    case 'begin_ok':
      return moved(emptySession, 'park', 'take_lease');
    case 'begin_rejected':
      return moved(state);
    case 'text':
    case 'blank_text':
    case 'end_marker':
    case 'tool_called':
      return ordinary;
    case 'save_due':
      return moved(state, 'write_state');
    case 'save_failed':
      return moved(state);
    case 'limit_exceeded':
      return paused('CONTENT_TOO_LARGE', state.question);
    case 'abort':
      return aborted('SESSION_ABORTED', 'move_to_attic');
    case 'graceful_stop':
      return moved(state, 'save', 'release', 'exit');
    case 'inactive':
      return moved({ kind: 'idle' }, 'save', 'release');
    case 'recover_accepted':
      return recovered(event);
    case 'recover_declined':
      return aborted('SESSION_ABORTED', 'move_to_attic');
    case 'lease_lost':
      return moved({ kind: 'idle' }, 'warn_lost');
    case 'finalize_command':
      if (state.question !== null && !event.answered) return refused('QUESTION_OPEN');
      return moved(finalizing, 'save', 'finalize');
    case 'message_end_terminal':
    case 'message_end_question':
    case 'message_end_open':
    case 'message_end_length':
    case 'settle_elapsed':
    case 'stream_error':
    case 'cancelled':
      return ignored;
    case 'seam_verified':
    case 'seam_hopeless':
    case 'idle_elapsed':
    case 'question_due':
    case 'answer':
    case 'document_again':
    case 'finalize_ok':
    case 'finalize_needs_corrections':
    case 'finalize_retryable':
    case 'finalize_refused':
    case 'correction_usable':
    case 'correction_unusable':
      return invalid;
    default:
      return event satisfies never;
  }
}

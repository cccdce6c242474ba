import type { ControlEvent, Transition } from '../control.ts';
import { emptySession, ignored, invalid, moved, ordinary, recovered, refused } from './moves.ts';

export function fromIdle(event: ControlEvent): Transition {
  switch (event.type) {
    case 'begin_ok':
      return moved(emptySession, 'take_lease');
    case 'text':
    case 'blank_text':
    case 'end_marker':
    case 'tool_called':
      return ordinary;
    case 'recover_accepted':
      return recovered(event);
    case 'recover_declined':
      return moved({ kind: 'idle' }, 'move_to_attic');
    case 'graceful_stop':
      return moved({ kind: 'idle' }, 'exit');
    case 'abort':
    case 'finalize_command':
      return refused('SESSION_NOT_FOUND');
    case 'begin_rejected':
    case 'message_end_terminal':
    case 'message_end_question':
    case 'message_end_open':
    case 'message_end_length':
    case 'settle_elapsed':
    case 'stream_error':
    case 'cancelled':
    case 'inactive':
    case 'lease_lost':
      return ignored;
    case 'seam_verified':
    case 'seam_hopeless':
    case 'idle_elapsed':
    case 'question_due':
    case 'answer':
    case 'document_again':
    case 'save_due':
    case 'save_failed':
    case 'limit_exceeded':
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

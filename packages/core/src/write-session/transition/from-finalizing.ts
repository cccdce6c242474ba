import type { ControlEvent, Finalizing, Transition } from '../control.ts';
import { MAX_CORRECTION_ROUNDS, MAX_FINALIZE_RETRIES } from '../control.ts';
import {
  aborted,
  asking,
  finalizing,
  ignored,
  invalid,
  moved,
  ordinary,
  paused,
  queued,
  refused,
} from './moves.ts';

export function fromFinalizing(state: Finalizing, event: ControlEvent): Transition {
  switch (event.type) {
    case 'begin_ok':
    case 'tool_called':
      return queued;
    case 'begin_rejected':
      return moved(state);
    case 'text':
    case 'end_marker':
      return ordinary;
    case 'question_due':
      return moved(
        asking(event.question, { asked: !event.messageOpen }),
        'save',
        ...(event.messageOpen ? [] : (['ask_question'] as const)),
      );
    case 'finalize_ok':
      return moved({ kind: 'done' }, 'remove_directory', 'receipt');
    case 'finalize_needs_corrections':
      return event.attended && event.round < MAX_CORRECTION_ROUNDS
        ? moved({ kind: 'needs_corrections', round: event.round }, 'save', 'ask_corrections')
        : moved(finalizing, 'safe_replacement', 'save', 'finalize');
    case 'finalize_retryable':
      if (state.attempts >= MAX_FINALIZE_RETRIES) return paused(event.code);
      return moved({ kind: 'finalizing', attempts: state.attempts + 1 }, 'retry_finalize');
    case 'finalize_refused':
      return paused(event.code);
    case 'cancelled':
    case 'save_failed':
      // The commit goes on: from memory if it must.
      return moved(state);
    case 'abort':
      return event.writing ? refused('SESSION_BUSY') : aborted('SESSION_ABORTED', 'move_to_attic');
    case 'graceful_stop':
      return moved(state, 'exit');
    case 'recover_accepted':
      return refused('SESSION_ALREADY_ACTIVE');
    case 'lease_lost':
      return event.writing ? moved(state) : moved({ kind: 'idle' }, 'warn_lost');
    case 'finalize_command':
      return moved(state);
    case 'blank_text':
    case 'message_end_terminal':
    case 'message_end_question':
    case 'message_end_open':
    case 'message_end_length':
    case 'settle_elapsed':
    case 'save_due':
    case 'stream_error':
    case 'inactive':
    case 'recover_declined':
      return ignored;
    case 'seam_verified':
    case 'seam_hopeless':
    case 'idle_elapsed':
    case 'answer':
    case 'document_again':
    case 'limit_exceeded':
    case 'correction_usable':
    case 'correction_unusable':
      return invalid;
    default:
      return event satisfies never;
  }
}

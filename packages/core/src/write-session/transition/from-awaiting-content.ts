import type { ErrorCode } from '@orion/contracts';

import type { AwaitingContent, ControlEvent, ControlLimits, Transition } from '../control.ts';
import { MAX_RETRIES } from '../control.ts';
import {
  aborted,
  filledSession,
  finalizing,
  ignored,
  invalid,
  moved,
  paused,
  refused,
} from './moves.ts';

export function fromAwaitingContent(
  state: AwaitingContent,
  event: ControlEvent,
  limits: ControlLimits,
): Transition {
  switch (event.type) {
    case 'begin_ok':
      return refused('SESSION_ALREADY_ACTIVE');
    case 'begin_rejected':
      return moved(state);
    case 'text':
      return moved(filledSession, 'cancel_idle_timer', 'buffer');
    case 'blank_text':
      return moved(state, 'cancel_idle_timer', 'buffer');
    case 'end_marker':
    case 'message_end_terminal':
      if (state.emptyAsked && limits.operation === 'create')
        return moved(finalizing, 'save', 'finalize');
      if (limits.idleMs === 0) return paused('EMPTY_CONTENT');
      return moved({ ...state, emptyAsked: true, retries: 0 }, 'start_idle_timer');
    case 'message_end_open':
      if (limits.idleMs === 0) return paused('NO_DONE');
      return moved({ ...state, retries: 0 }, 'start_idle_timer');
    case 'message_end_length':
      return retried(state, 'NO_DONE');
    case 'stream_error':
      return event.retryable ? retried(state, event.code) : paused(event.code);
    case 'idle_elapsed':
      if (state.idlePrompts >= limits.maxIdlePrompts)
        return aborted('EMPTY_CONTENT', 'remove_directory');
      return moved(
        { ...state, idlePrompts: state.idlePrompts + 1 },
        state.emptyAsked ? 'ask_empty' : 'ask_idle',
      );
    case 'tool_called':
      return refused('SESSION_BUSY');
    case 'save_due':
      return moved(state, 'write_state');
    case 'save_failed':
      return moved(state, 'degrade');
    case 'limit_exceeded':
      return paused('CONTENT_TOO_LARGE');
    case 'cancelled':
      return paused('ABORTED');
    case 'abort':
      return aborted('SESSION_ABORTED', 'remove_directory');
    case 'graceful_stop':
      return moved({ kind: 'paused', code: 'ABORTED', question: null }, 'save', 'release', 'exit');
    case 'inactive':
      return aborted('EMPTY_CONTENT', 'remove_directory');
    case 'recover_accepted':
      return refused('SESSION_ALREADY_ACTIVE');
    case 'lease_lost':
      return moved({ kind: 'idle' }, 'warn_lost');
    case 'finalize_command':
      return refused('EMPTY_CONTENT');
    case 'settle_elapsed':
    case 'recover_declined':
      return ignored;
    case 'message_end_question':
    case 'seam_verified':
    case 'seam_hopeless':
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

function retried(state: AwaitingContent, code: ErrorCode): Transition {
  if (state.retries >= MAX_RETRIES) return paused(code);
  return moved({ ...state, retries: state.retries + 1 }, 'resend');
}

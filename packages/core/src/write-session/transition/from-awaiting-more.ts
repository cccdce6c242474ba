import type { ErrorCode, SessionQuestion } from '@orion/contracts';

import type {
  AwaitingMore,
  ControlEvent,
  ControlLimits,
  SeamRemedy,
  Transition,
} from '../control.ts';
import { MAX_RETRIES } from '../control.ts';
import {
  aborted,
  emptySession,
  asking,
  filledSession,
  finalizing,
  ignored,
  invalid,
  moved,
  paused,
  refused,
} from './moves.ts';

export function fromAwaitingMore(
  state: AwaitingMore,
  event: ControlEvent,
  limits: ControlLimits,
): Transition {
  switch (event.type) {
    case 'begin_ok':
      return refused('SESSION_ALREADY_ACTIVE');
    case 'begin_rejected':
      return moved(state);
    case 'text':
      return moved(
        { ...filledSession, stalledReplies: state.stalledReplies },
        'cancel_idle_timer',
        'buffer',
      );
    case 'blank_text':
      return moved(state, 'cancel_idle_timer', 'buffer');
    case 'end_marker':
      return moved(finalizing, 'save', 'finalize');
    case 'message_end_terminal':
      if (state.question !== null) return askedAgain(state, state.question, limits);
      return moved(finalizing, 'save', 'finalize');
    case 'message_end_question':
      if (limits.idleMs === 0) return paused('NO_DONE', event.question);
      return moved({ ...state, question: event.question }, 'save', 'start_idle_timer');
    case 'message_end_open':
      if (state.question !== null) return askedAgain(state, state.question, limits);
      if (limits.idleMs === 0) return paused('NO_DONE', limits.unasked);
      return moved({ ...state, stalledReplies: 0 }, 'save', 'start_idle_timer');
    case 'message_end_length':
      return continued(state, event.progress, 'NO_DONE', limits);
    case 'stream_error':
      if (!event.retryable) return paused(event.code, state.question ?? limits.unasked);
      if (event.afterDone && state.question === null) {
        if (limits.idleMs === 0) return paused('NO_DONE', limits.unasked);
        return moved(state, 'save', 'start_idle_timer');
      }
      return continued(state, event.progress, event.code, limits);
    case 'seam_verified':
      return moved({ ...state, question: stillOpen(state.question) }, 'buffer');
    case 'seam_hopeless':
      return afterHopelessSeam(state, event.remedy, limits);
    case 'settle_elapsed':
      return moved(finalizing, 'save', 'finalize');
    case 'idle_elapsed':
      if (state.idlePrompts >= limits.maxIdlePrompts)
        return paused('NO_DONE', state.question ?? limits.unasked);
      if (state.question !== null) {
        return moved(
          asking(state.question, { idlePrompts: state.idlePrompts + 1 }),
          'ask_question',
        );
      }
      return moved({ ...state, idlePrompts: state.idlePrompts + 1 }, 'ask_idle');
    case 'document_again':
      return moved(emptySession, 'start_over');
    case 'tool_called':
      return refused('SESSION_BUSY');
    case 'save_due':
      return moved(state, 'write_state');
    case 'save_failed':
      return moved(state, 'degrade');
    case 'limit_exceeded':
      return paused('CONTENT_TOO_LARGE', limits.unasked);
    case 'cancelled':
      return paused('ABORTED', state.question ?? limits.unasked);
    case 'abort':
      return aborted('SESSION_ABORTED', 'move_to_attic');
    case 'graceful_stop':
      return moved(
        { kind: 'paused', code: 'ABORTED', question: state.question ?? limits.unasked },
        'save',
        'release',
        'exit',
      );
    case 'inactive':
      return moved({ kind: 'idle' }, 'save', 'release');
    case 'recover_accepted':
      return refused('SESSION_ALREADY_ACTIVE');
    case 'lease_lost':
      return moved({ kind: 'idle' }, 'warn_lost');
    case 'finalize_command':
      return moved(finalizing, 'save', 'finalize');
    case 'recover_declined':
      return ignored;
    case 'question_due':
    case 'answer':
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

function continued(
  state: AwaitingMore,
  progress: boolean,
  code: ErrorCode,
  limits: ControlLimits,
): Transition {
  if (state.question !== null) return askedAgain(state, state.question, limits);
  const stalledReplies = progress ? 0 : state.stalledReplies + 1;
  if (stalledReplies >= MAX_RETRIES) return paused(code, limits.unasked);
  return moved({ ...state, stalledReplies }, 'save', 'ask_continuation');
}

/**
 * A reply that repeats what is saved says nothing of a question about it: only the text behind it does. What was held
 * back is not saved, and so is answered.
 */
function stillOpen(question: SessionQuestion | null): SessionQuestion | null {
  return question?.kind === 'near_miss' && question.heldBack ? null : question;
}

/** The reply to an open question was neither its answer nor the rest of the file. */
function askedAgain(
  state: AwaitingMore,
  question: SessionQuestion,
  { idleMs }: ControlLimits,
): Transition {
  if (idleMs === 0) return paused('NO_DONE', question);
  return moved(
    asking(question, { again: true, idlePrompts: state.idlePrompts }),
    'save',
    'start_idle_timer',
  );
}

function afterHopelessSeam(
  state: AwaitingMore,
  remedy: SeamRemedy,
  limits: ControlLimits,
): Transition {
  // Whatever the reply is, it takes the place of no question (R270).
  if (state.question !== null) {
    return remedy === 'ask_question' ? askedAgain(state, state.question, limits) : invalid;
  }
  switch (remedy) {
    case 'ask_question':
      return invalid;
    case 'ask_again':
      return moved(state, 'save', 'ask_again');
    case 'ask_bridge':
      return moved(state, 'save', 'ask_bridge');
    case 'accept':
      return moved(state, 'accept_unverified');
    case 'pause':
      return paused('SEAM_UNVERIFIED', limits.unasked);
    default:
      return remedy satisfies never;
  }
}

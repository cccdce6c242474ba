import type { ErrorCode, SessionQuestion } from '@orion/contracts';

import type {
  AwaitingAnswer,
  AwaitingContent,
  AwaitingMore,
  ControlEffect,
  ControlEvent,
  ControlLimits,
  ControlState,
  Finalizing,
  NeedsCorrections,
  Paused,
  Transition,
} from './control.ts';
import { MAX_CORRECTION_ROUNDS, MAX_FINALIZE_RETRIES, MAX_RETRIES } from './control.ts';

/**
 * The state table of a write session: one pure function, one door for every change of state.
 *
 * Invariants
 * T1  Nothing here finalizes except a terminal marker, an answer, or a person's command: never a timer alone.
 * T2  Every way out of a state with content saves it first, or hands it to the commit.
 * T3  A text that may not belong to the file never reaches `buffer`.
 */
export function transition(
  state: ControlState,
  event: ControlEvent,
  limits: ControlLimits,
): Transition {
  switch (state.kind) {
    case 'idle':
      return fromIdle(event);
    case 'awaiting_content':
      return fromAwaitingContent(state, event, limits);
    case 'awaiting_more':
      return fromAwaitingMore(state, event, limits);
    case 'awaiting_answer':
      return fromAwaitingAnswer(state, event, limits);
    case 'finalizing':
      return fromFinalizing(state, event);
    case 'needs_corrections':
      return fromNeedsCorrections(state, event);
    case 'paused':
      return fromPaused(state, event);
    case 'done':
    case 'aborted':
      // Both reset the controller: what comes now meets no session.
      return fromIdle(event);
    default:
      return state satisfies never;
  }
}

const ignored: Transition = { kind: 'ignored' };
const invalid: Transition = { kind: 'invalid' };
const ordinary: Transition = { kind: 'ordinary' };
const queued: Transition = { kind: 'queued' };

function moved(state: ControlState, ...effects: readonly ControlEffect[]): Transition {
  return { kind: 'moved', state, effects };
}

function refused(code: ErrorCode): Transition {
  return { kind: 'refused', code };
}

const emptySession: AwaitingContent = {
  kind: 'awaiting_content',
  idlePrompts: 0,
  retries: 0,
  emptyAsked: false,
};
const filledSession: AwaitingMore = {
  kind: 'awaiting_more',
  idlePrompts: 0,
  stalledReplies: 0,
  question: null,
};
const finalizing: Finalizing = { kind: 'finalizing', attempts: 0 };

function paused(code: ErrorCode, question: SessionQuestion | null = null): Transition {
  const state: Paused = { kind: 'paused', code, question };
  return moved(state, 'save', 'pause', 'release');
}

function aborted(code: ErrorCode, where: 'remove_directory' | 'move_to_attic'): Transition {
  return moved({ kind: 'aborted', code }, where);
}

function recovered(event: {
  readonly content: boolean;
  readonly question: SessionQuestion | null;
}): Transition {
  if (event.question !== null) {
    return moved(
      {
        kind: 'awaiting_answer',
        question: event.question,
        asked: true,
        idlePrompts: 0,
        retries: 0,
      },
      'ask_question',
    );
  }
  return moved(event.content ? filledSession : emptySession, 'ask_recovery');
}

function fromIdle(event: ControlEvent): Transition {
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
    case 'fence_question_due':
    case 'answer':
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

function fromAwaitingContent(
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
    case 'fence_question_due':
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

function retried(state: AwaitingContent, code: ErrorCode): Transition {
  if (state.retries >= MAX_RETRIES) return paused(code);
  return moved({ ...state, retries: state.retries + 1 }, 'resend');
}

function fromAwaitingMore(
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
    case 'message_end_terminal':
      return moved(finalizing, 'save', 'finalize');
    case 'message_end_question':
      if (limits.idleMs === 0) return paused('NO_DONE', event.question);
      return moved({ ...state, question: event.question }, 'save', 'start_idle_timer');
    case 'message_end_open':
      if (limits.idleMs === 0) return paused('NO_DONE');
      return moved({ ...state, question: null, stalledReplies: 0 }, 'save', 'start_idle_timer');
    case 'message_end_length':
      return continued(state, event.progress, 'NO_DONE');
    case 'stream_error':
      if (!event.retryable) return paused(event.code);
      if (event.afterDone) {
        if (limits.idleMs === 0) return paused('NO_DONE');
        return moved({ ...state, question: null }, 'save', 'start_idle_timer');
      }
      return continued(state, event.progress, event.code);
    case 'seam_verified':
      return moved({ ...state, question: null }, 'buffer');
    case 'seam_hopeless':
      return afterHopelessSeam(state, event.remedy);
    case 'settle_elapsed':
      return moved(finalizing, 'save', 'finalize');
    case 'idle_elapsed':
      if (state.idlePrompts >= limits.maxIdlePrompts) return paused('NO_DONE', state.question);
      if (state.question !== null) {
        return moved(
          {
            kind: 'awaiting_answer',
            question: state.question,
            asked: true,
            idlePrompts: state.idlePrompts + 1,
            retries: 0,
          },
          'ask_question',
        );
      }
      return moved({ ...state, idlePrompts: state.idlePrompts + 1 }, 'ask_idle');
    case 'tool_called':
      return refused('SESSION_BUSY');
    case 'save_due':
      return moved(state, 'write_state');
    case 'save_failed':
      return moved(state, 'degrade');
    case 'limit_exceeded':
      return paused('CONTENT_TOO_LARGE');
    case 'cancelled':
      return paused('ABORTED', state.question);
    case 'abort':
      return aborted('SESSION_ABORTED', 'move_to_attic');
    case 'graceful_stop':
      return moved(
        { kind: 'paused', code: 'ABORTED', question: state.question },
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
    case 'fence_question_due':
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

function continued(state: AwaitingMore, progress: boolean, code: ErrorCode): Transition {
  const stalledReplies = progress ? 0 : state.stalledReplies + 1;
  if (stalledReplies >= MAX_RETRIES) return paused(code);
  return moved({ ...state, question: null, stalledReplies }, 'save', 'ask_continuation');
}

function afterHopelessSeam(
  state: AwaitingMore,
  remedy: 'ask_again' | 'ask_bridge' | 'accept' | 'pause',
): Transition {
  switch (remedy) {
    case 'ask_again':
      return moved({ ...state, question: null }, 'save', 'ask_again');
    case 'ask_bridge':
      return moved({ ...state, question: null }, 'save', 'ask_bridge');
    case 'accept':
      return moved({ ...state, question: null }, 'accept_unverified');
    case 'pause':
      return paused('SEAM_UNVERIFIED');
    default:
      return remedy satisfies never;
  }
}

function fromAwaitingAnswer(
  state: AwaitingAnswer,
  event: ControlEvent,
  limits: ControlLimits,
): Transition {
  switch (event.type) {
    case 'begin_ok':
      return refused('SESSION_ALREADY_ACTIVE');
    case 'begin_rejected':
      return moved(state);
    case 'text':
    case 'blank_text':
    case 'end_marker':
      return state.asked ? moved(state, 'hold') : ordinary;
    case 'message_end_terminal':
    case 'message_end_question':
    case 'message_end_open':
    case 'message_end_length':
      return state.asked
        ? moved(state, 'parse_reply')
        : moved({ ...state, asked: true }, 'ask_question');
    case 'answer':
      return answered(state, event.answer, limits);
    case 'stream_error':
      if (!state.asked) return moved({ ...state, asked: true }, 'ask_question');
      if (!event.retryable) return paused(event.code, state.question);
      if (state.retries >= MAX_RETRIES) return paused(event.code, state.question);
      return moved({ ...state, retries: state.retries + 1 }, 'ask_question');
    case 'idle_elapsed':
      if (state.idlePrompts >= limits.maxIdlePrompts) return paused('NO_DONE', state.question);
      return moved({ ...state, idlePrompts: state.idlePrompts + 1, retries: 0 }, 'ask_question');
    case 'tool_called':
      return refused('SESSION_BUSY');
    case 'save_due':
      return moved(state, 'write_state');
    case 'save_failed':
      return moved(state, 'degrade');
    case 'limit_exceeded':
      return paused('CONTENT_TOO_LARGE', state.question);
    case 'cancelled':
      return paused('ABORTED', state.question);
    case 'abort':
      return aborted('SESSION_ABORTED', 'move_to_attic');
    case 'graceful_stop':
      return moved(
        { kind: 'paused', code: 'ABORTED', question: state.question },
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
      return event.answered ? moved(finalizing, 'save', 'finalize') : refused('QUESTION_OPEN');
    case 'settle_elapsed':
    case 'recover_declined':
      return ignored;
    case 'seam_verified':
    case 'seam_hopeless':
    case 'fence_question_due':
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

/** Which answers close which question: the last row of the table is for all that is none of them. */
function answered(
  state: AwaitingAnswer,
  answer: 'keep' | 'done' | 'strip' | 'end' | 'text' | 'unusable',
  limits: ControlLimits,
): Transition {
  const kind = state.question.kind;
  switch (answer) {
    case 'keep':
      return kind === 'end' ? invalid : moved(finalizing, 'keep_all', 'save', 'finalize');
    case 'done':
      if (kind === 'fence') return invalid;
      return kind === 'end'
        ? moved(finalizing, 'keep_all', 'save', 'finalize')
        : moved(finalizing, 'leave_out', 'save', 'finalize');
    case 'strip':
      return kind === 'fence' ? moved(finalizing, 'strip_fence', 'save', 'finalize') : invalid;
    case 'end':
      return kind === 'end' ? moved(finalizing, 'end_before', 'save', 'finalize') : invalid;
    case 'text':
      if (kind === 'fence') return invalid;
      return moved({ ...filledSession, idlePrompts: state.idlePrompts }, 'seam_reader');
    case 'unusable':
      if (limits.idleMs === 0) return paused('NO_DONE', state.question);
      return moved({ ...state, retries: 0 }, 'start_idle_timer');
    default:
      return answer satisfies never;
  }
}

function fromFinalizing(state: Finalizing, event: ControlEvent): Transition {
  switch (event.type) {
    case 'begin_ok':
    case 'tool_called':
      return queued;
    case 'begin_rejected':
      return moved(state);
    case 'text':
    case 'end_marker':
      return ordinary;
    case 'fence_question_due':
      return moved(
        {
          kind: 'awaiting_answer',
          question: event.question,
          asked: !event.messageOpen,
          idlePrompts: 0,
          retries: 0,
        },
        ...(event.messageOpen ? [] : (['ask_question'] as const)),
      );
    case 'finalize_ok':
      return moved({ kind: 'done' }, 'remove_directory', 'receipt');
    case 'finalize_needs_corrections':
      return moved({ kind: 'needs_corrections', round: 0 }, 'ask_corrections');
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
    case 'limit_exceeded':
    case 'correction_usable':
    case 'correction_unusable':
      return invalid;
    default:
      return event satisfies never;
  }
}

function fromNeedsCorrections(state: NeedsCorrections, event: ControlEvent): Transition {
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
      return moved(finalizing, 'finalize');
    case 'correction_unusable':
    case 'message_end_length':
    case 'stream_error':
      return nextRound(state);
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
      return moved(finalizing, 'finalize');
    case 'settle_elapsed':
    case 'recover_declined':
      return ignored;
    case 'seam_verified':
    case 'seam_hopeless':
    case 'fence_question_due':
    case 'answer':
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
  if (round >= MAX_CORRECTION_ROUNDS) return moved(finalizing, 'safe_replacement', 'finalize');
  return moved({ kind: 'needs_corrections', round }, 'ask_corrections');
}

function fromPaused(state: Paused, event: ControlEvent): Transition {
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
      return moved(finalizing, 'finalize');
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
    case 'fence_question_due':
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

import type { SessionQuestion } from '@orion/contracts';

import type { AwaitingAnswer, ControlEvent, ControlLimits, Transition } from '../control.ts';
import { MAX_RETRIES } from '../control.ts';
import type { QuestionAnswer } from '../questions/question-row.ts';
import { choicesOf, isClosed } from '../questions/questions.ts';
import {
  aborted,
  emptySession,
  filledSession,
  finalizing,
  ignored,
  invalid,
  moved,
  ordinary,
  paused,
  refused,
} from './moves.ts';

export function fromAwaitingAnswer(
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
    case 'document_again':
      return moved(emptySession, 'start_over');
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
    case 'question_due':
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

/** The last row of the table is for all that is no answer to this question. */
function answered(
  state: AwaitingAnswer,
  answer: Extract<ControlEvent, { type: 'answer' }>['answer'],
  limits: ControlLimits,
): Transition {
  switch (answer) {
    case 'text':
      if (isClosed(state.question)) return invalid;
      return moved(
        { ...filledSession, idlePrompts: state.idlePrompts, question: state.question },
        'seam_reader',
      );
    case 'unusable':
      if (limits.idleMs === 0) return paused('NO_DONE', state.question);
      return moved({ ...state, again: true, retries: 0 }, 'start_idle_timer');
    default:
      return closed(state.question, answer);
  }
}

function closed(question: SessionQuestion, answer: QuestionAnswer['kind']): Transition {
  const chosen = choicesOf(question).find((each) => each.answer.kind === answer);
  if (chosen === undefined) return invalid;
  const { type } = chosen.effect;
  return type === 'start_over'
    ? moved(emptySession, type, 'ask_anew')
    : moved(finalizing, type, 'save', 'finalize');
}

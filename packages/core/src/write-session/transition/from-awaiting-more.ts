import type { ErrorCode, SessionQuestion } from '@orion/contracts';

import type { AwaitingMore, ControlLimits, Transition } from '../control.ts';
import { MAX_RETRIES } from '../control.ts';
import {
  asking,
  continuation,
  emptySession,
  finalized,
  finalizing,
  idleReply,
  invalid,
  moved,
  paused,
} from './outcomes.ts';
import { listeningRows } from './rows.ts';
import type { Rows } from './rows.ts';

export const fromAwaitingMore: Rows<AwaitingMore> = {
  ...listeningRows,
  text: (state, { text }) =>
    moved({ ...state, idlePrompts: 0, question: null }, 'cancel_idle_timer', {
      type: 'buffer',
      text,
    }),
  blank_text: (state, { text }) => moved(state, 'cancel_idle_timer', { type: 'buffer', text }),
  end_marker: (_state, { messageOpen }) =>
    moved(finalizing, 'save', { type: 'finalize', messageOpen }),
  message_end_terminal: (state, _event, limits) =>
    state.question === null ? finalized('save') : askedAgain(state, state.question, limits),
  message_end_question: (state, { question }, { idleMs }) =>
    idleMs === 0
      ? paused('NO_DONE', question)
      : moved({ ...state, question }, 'save', 'start_idle_timer'),
  message_end_open: (state, _event, limits) =>
    state.question === null
      ? waiting({ ...state, stalledReplies: 0 }, limits)
      : askedAgain(state, state.question, limits),
  message_end_length: (state, { progress }, limits) =>
    continued(state, progress, 'NO_DONE', limits),
  stream_error: (state, { code, retryable, afterDone, progress }, limits) => {
    if (!retryable) return paused(code, state.question ?? limits.unasked);
    if (afterDone && state.question === null) return waiting(state, limits);
    return continued(state, progress, code, limits);
  },
  seam_verified: (state) => moved({ ...state, question: stillOpen(state.question) }),
  seam_hopeless: (state, event, limits) => {
    // No reply replaces an open question (R270).
    if (state.question !== null)
      return event.remedy === 'ask_question' ? askedAgain(state, state.question, limits) : invalid;
    switch (event.remedy) {
      case 'ask_question':
        return invalid;
      case 'ask_again':
      case 'ask_bridge':
        return moved({ ...state, expecting: event.expecting }, 'save', event.remedy);
      case 'accept':
        return moved(state, { type: 'accept_unverified', via: event.via, end: event.end });
      case 'pause':
        return paused('SEAM_UNVERIFIED', limits.unasked);
      default:
        return event satisfies never;
    }
  },
  idle_elapsed: (state, _event, { maxIdlePrompts, unasked }) => {
    const idlePrompts = state.idlePrompts + 1;
    if (idlePrompts > maxIdlePrompts) return paused('NO_DONE', state.question ?? unasked);
    return state.question === null
      ? moved({ ...state, idlePrompts, expecting: idleReply }, 'ask_idle')
      : moved(asking(state.question, { idlePrompts }), 'ask_question');
  },
  // Text arrived, which answers an open question.
  limit_exceeded: (_state, _event, { unasked }) => paused('CONTENT_TOO_LARGE', unasked),
  document_again: () => moved(emptySession, { type: 'start_over' }),
};

function waiting(state: AwaitingMore, { idleMs, unasked }: ControlLimits): Transition {
  return idleMs === 0 ? paused('NO_DONE', unasked) : moved(state, 'save', 'start_idle_timer');
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
  return moved({ ...state, stalledReplies, expecting: continuation }, 'save', 'ask_continuation');
}

/**
 * A reply that repeats saved text does not answer a question about it; only the text after it does. Text that was held
 * back is not saved, so the reply answers that question.
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

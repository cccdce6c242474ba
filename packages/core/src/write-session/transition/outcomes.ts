import type { ErrorCode, SessionQuestion } from '@orion/contracts';

import type {
  AwaitingAnswer,
  AwaitingContent,
  AwaitingMore,
  ControlEffect,
  ControlEvent,
  Continuation,
  ControlState,
  Finalizing,
  Paused,
  PlainEffect,
  RefusalCode,
  Transition,
} from '../control.ts';

/** The outcomes that several states share, so that each of them does the same thing in the same way. */

export const ignored: Transition = { kind: 'ignored' };
export const invalid: Transition = { kind: 'invalid' };
export const ordinary: Transition = { kind: 'ordinary' };
export const queued: Transition = { kind: 'queued' };

/** Effects without data are passed by name. */
export function moved(
  state: ControlState,
  ...effects: readonly (ControlEffect | PlainEffect)[]
): Transition {
  return {
    kind: 'moved',
    state,
    effects: effects.map((effect) => (typeof effect === 'string' ? { type: effect } : effect)),
  };
}

export function refused(code: RefusalCode): Transition {
  return { kind: 'refused', code };
}

export const emptySession: AwaitingContent = {
  kind: 'awaiting_content',
  idlePrompts: 0,
  retries: 0,
  emptyAsked: false,
};
/** The model was only asked for the rest of the text. */
export const continuation: Continuation = {
  kind: 'continuation',
  isReply: false,
  isRecovery: false,
  asks: 0,
};
export const idleReply: Continuation = { ...continuation, isReply: true };
export const filledSession: AwaitingMore = {
  kind: 'awaiting_more',
  idlePrompts: 0,
  stalledReplies: 0,
  question: null,
  expecting: continuation,
};
export const finalizing: Finalizing = { kind: 'finalizing', attempts: 0 };

/** The text is complete. `before`: effects that still change it. */
export function finalized(...before: readonly (ControlEffect | PlainEffect)[]): Transition {
  return moved(finalizing, ...before, { type: 'finalize', messageOpen: false });
}

/** The state after a question is sent to the model. */
export function asking(
  question: SessionQuestion,
  change: Partial<AwaitingAnswer> = {},
): AwaitingAnswer {
  return {
    kind: 'awaiting_answer',
    question,
    asked: true,
    again: false,
    idlePrompts: 0,
    retries: 0,
    ...change,
  };
}

export function paused(
  code: ErrorCode,
  question: SessionQuestion | null = null,
  ...before: readonly ControlEffect[]
): Transition {
  const state: Paused = { kind: 'paused', code, question };
  return moved(state, ...before, 'save', { type: 'pause', code }, 'release');
}

export function aborted(code: ErrorCode, where: 'remove_directory' | 'move_to_attic'): Transition {
  return moved({ kind: 'aborted', code }, where);
}

export function recovered(
  _state: ControlState,
  event: Extract<ControlEvent, { readonly type: 'recover_accepted' }>,
): Transition {
  if (event.question !== null) {
    return moved(asking(event.question), 'ask_question');
  }
  // Remaining invalid places are found again; the rounds continue from the last one.
  if (event.complete) return finalized();
  const expecting: Continuation = { ...idleReply, isRecovery: true };
  return moved(event.content ? { ...filledSession, expecting } : emptySession, 'ask_recovery');
}

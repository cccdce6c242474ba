import type {
  ErrorCode,
  InvalidPlace,
  Seam,
  SessionQuestion,
  SessionStateName,
  TextCorrection,
  WriteOperation,
} from '@orion/contracts';

import type { AnswerEffect, QuestionAnswer } from './questions/question-row.ts';

/**
 * The state of a write session, apart from its text. Each state holds only what it owns: a question exists only while
 * it is open, an attempt only while finalizing.
 *
 * The letters are those of the state table: I idle, C awaiting content, M awaiting DONE or more content,
 * Q awaiting an answer, F finalizing, N corrections needed, P paused, D done, A aborted.
 */
export type ControlState =
  | { readonly kind: 'idle' }
  | AwaitingContent
  | AwaitingMore
  | AwaitingAnswer
  | Finalizing
  | NeedsCorrections
  | Paused
  | { readonly kind: 'done' }
  | { readonly kind: 'aborted'; readonly code: ErrorCode };

export type AwaitingContent = {
  readonly kind: 'awaiting_content';
  /** Consecutive prompts without new content. */
  readonly idlePrompts: number;
  /** Consecutive requests without a message. */
  readonly retries: number;
  /** A marker arrived without content; a second one confirms an empty file. */
  readonly emptyAsked: boolean;
};

export type AwaitingMore = {
  readonly kind: 'awaiting_more';
  readonly idlePrompts: number;
  /** Consecutive replies to a continuation that added nothing. */
  readonly stalledReplies: number;
  /** The question that the next idle prompt asks, or that the arriving reply has not answered. */
  readonly question: SessionQuestion | null;
  readonly expecting: Expectation;
};

export type AwaitingAnswer = {
  readonly kind: 'awaiting_answer';
  readonly question: SessionQuestion;
  /** False until the question is sent, which happens when the current message has ended. */
  readonly asked: boolean;
  /** The last reply was not an answer. */
  readonly again: boolean;
  readonly idlePrompts: number;
  readonly retries: number;
};

export type Finalizing = {
  readonly kind: 'finalizing';
  /** Failed attempts that could be repeated. */
  readonly attempts: number;
};

export type NeedsCorrections = {
  readonly kind: 'needs_corrections';
  /** Rounds that have ended. */
  readonly round: number;
  /** What the model is asked about. */
  readonly places: readonly InvalidPlace[];
};

export type Paused = {
  readonly kind: 'paused';
  readonly code: ErrorCode;
  readonly question: SessionQuestion | null;
};

/** What can happen to a session: one name for each row of the state table. */
export type ControlEvent =
  | OutsideEvent
  | { readonly type: 'begin_ok' }
  /** Text that the message's reader released: content, or more of a reply. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'blank_text'; readonly text: string }
  /** The line that always ends the content is complete; the message may continue after it. */
  | { readonly type: 'end_marker'; readonly messageOpen: boolean }
  /** The message ended in order after a terminal marker; its text is verified, accepted or blank. */
  | { readonly type: 'message_end_terminal' }
  /** An ambiguous DONE or a near miss. */
  | { readonly type: 'message_end_question'; readonly question: SessionQuestion }
  | { readonly type: 'message_end_open' }
  | { readonly type: 'message_end_length'; readonly progress: boolean }
  | { readonly type: 'seam_verified' }
  | ({ readonly type: 'seam_hopeless' } & SeamRemedy)
  | { readonly type: 'idle_elapsed' }
  | {
      readonly type: 'question_due';
      readonly question: SessionQuestion;
      readonly messageOpen: boolean;
      /** A model can be asked; otherwise a person has the file written. */
      readonly attended: boolean;
    }
  | {
      readonly type: 'answer';
      readonly answer: QuestionAnswer | { readonly kind: 'text' | 'unusable' };
    }
  /** The reply repeats the document from its first line. */
  | { readonly type: 'document_again' }
  | { readonly type: 'save_due' }
  | { readonly type: 'limit_exceeded' }
  /** `round`: rounds that have ended. `asked`: nobody if a person has decided, or no model can be asked. */
  | {
      readonly type: 'finalize_needs_corrections';
      readonly places: readonly InvalidPlace[];
      readonly round: number;
      readonly asked: 'model' | 'program' | 'nobody';
    }
  | { readonly type: 'finalize_retryable'; readonly code: ErrorCode }
  | { readonly type: 'finalize_refused'; readonly code: ErrorCode }
  | { readonly type: 'correction_usable'; readonly corrections: readonly TextCorrection[] }
  | { readonly type: 'correction_unusable' }
  | {
      readonly type: 'stream_error';
      readonly code: ErrorCode;
      readonly retryable: boolean;
      readonly afterDone: boolean;
      readonly progress: boolean;
    }
  | {
      readonly type: 'recover_accepted';
      readonly content: boolean;
      readonly question: SessionQuestion | null;
      /** It is decided which text is the file: nothing is added to it. */
      readonly complete: boolean;
    }
  | { readonly type: 'finalize_command'; readonly answered: boolean };

/** What happens apart from the text; the state alone decides what follows. */
export type OutsideEvent =
  /** The model called a tool, although none is offered while it writes. */
  | { readonly type: 'tool_called' }
  | { readonly type: 'save_failed' }
  | { readonly type: 'finalize_ok' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'graceful_stop' }
  | { readonly type: 'inactive' }
  /** `writing`: while the commit is under way. */
  | { readonly type: 'abort'; readonly writing: boolean }
  | { readonly type: 'lease_lost'; readonly writing: boolean };

/** What to do about a reply that does not join the saved text. */
export type SeamRemedy =
  /** Ask the open question again: only its answer or a verified seam closes it. */
  | { readonly remedy: 'ask_question' }
  | { readonly remedy: 'ask_again' | 'ask_bridge'; readonly expecting: Expectation }
  /** `end`: how the reply ended, which is content after all. */
  | { readonly remedy: 'accept'; readonly via: Seam['via']; readonly end: MessageEnd }
  | { readonly remedy: 'pause' };

/** Effects without data. */
export type PlainEffect =
  | 'start_idle_timer'
  | 'cancel_idle_timer'
  | 'save'
  | 'write_state'
  | 'degrade'
  | 'ask_idle'
  | 'ask_empty'
  | 'ask_continuation'
  | 'ask_again'
  | 'ask_bridge'
  | 'ask_question'
  | 'ask_recovery'
  | 'ask_corrections'
  | 'ask_anew'
  | 'seam_reader'
  | 'retry_finalize'
  | 'safe_replacement'
  | 'release'
  | 'park'
  | 'remove_directory'
  | 'move_to_attic'
  | 'warn_lost';

/** What a transition asks for, with its data. Each kind has one handler, in `effects.ts`. */
export type ControlEffect =
  | { readonly [Type in PlainEffect]: { readonly type: Type } }[PlainEffect]
  /** Content. */
  | { readonly type: 'buffer'; readonly text: string }
  /** More of a reply, which is not content. */
  | { readonly type: 'hold'; readonly text: string }
  | { readonly type: 'append_reply'; readonly text: string }
  | { readonly type: 'parse_reply'; readonly end: MessageEnd }
  | { readonly type: 'resend'; readonly attempt: number }
  | { readonly type: 'accept_unverified'; readonly via: Seam['via']; readonly end: MessageEnd }
  /** What an answer does to the saved text. */
  | AnswerEffect
  | { readonly type: 'finalize'; readonly messageOpen: boolean }
  /** The result of a round of corrections. */
  | { readonly type: 'end_round'; readonly corrections: readonly TextCorrection[] }
  | { readonly type: 'pause'; readonly code: ErrorCode };

/** How a model's message ended. */
export type MessageEnd =
  | { readonly kind: 'stop' }
  | { readonly kind: 'length' }
  | ({ readonly kind: 'error' } & Failure);

export type Failure = {
  readonly code: ErrorCode;
  readonly message: string;
  /** Repeating it may succeed. */
  readonly retryable: boolean;
};

/** What the model was asked to write after the saved text; decides how its next message is read. */
export type Expectation =
  | Continuation
  | {
      readonly kind: 'bridge';
      readonly headLines: readonly string[];
      /** How the held second part ended. */
      readonly end: MessageEnd;
    };

export type Continuation = {
  readonly kind: 'continuation';
  /** A reply to an idle prompt or a recovery, where the model may have something else to say. */
  readonly isReply: boolean;
  readonly isRecovery: boolean;
  /** How often the model was asked again because its reply did not join. */
  readonly asks: number;
};

export type Transition =
  | {
      readonly kind: 'moved';
      readonly state: ControlState;
      readonly effects: readonly ControlEffect[];
    }
  /** Nothing to do; recorded in the trace. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  /** Waits for the outcome of the commit. */
  | { readonly kind: 'queued' }
  /** The tool call or text does not concern the session. */
  | { readonly kind: 'ordinary' }
  /** A bug in the caller; the state is unchanged. */
  | { readonly kind: 'invalid' };

export type RefusalCode =
  | 'SESSION_ALREADY_ACTIVE'
  | 'SESSION_BUSY'
  | 'SESSION_NOT_FOUND'
  | 'EMPTY_CONTENT'
  | 'QUESTION_OPEN'
  /** An answer was given while no question is open. */
  | 'USAGE';

export type ControlLimits = {
  readonly operation: WriteOperation;
  /** 0: no prompts; the session pauses at the end of the message. */
  readonly idleMs: number;
  readonly maxIdlePrompts: number;
  /** The question that a session leaves open when it pauses, unless another one is open. */
  readonly unasked: SessionQuestion | null;
};

/** Consecutive requests without a message, and consecutive continuations without progress. */
export const MAX_RETRIES = 3;
/** Retries of a commit after a passing failure, and the wait before each, in milliseconds. */
export const MAX_FINALIZE_RETRIES = 2;
export const FINALIZE_RETRY_MS = 1000;
/** Rounds in which a model corrects invalid places, and the places in one round. */
export const MAX_CORRECTION_ROUNDS = 3;
export const MAX_CORRECTION_PLACES = 20;

const STATE_NAMES: { readonly [Kind in ControlState['kind']]: SessionStateName } = {
  idle: 'idle',
  awaiting_content: 'session_active.awaiting_content',
  awaiting_more: 'session_active.awaiting_done_or_more_content',
  awaiting_answer: 'session_active.awaiting_answer',
  finalizing: 'session_active.finalizing',
  needs_corrections: 'session_active.needs_corrections',
  paused: 'session_active.paused',
  done: 'done',
  aborted: 'aborted',
};

export function stateNameOf({ kind }: ControlState): SessionStateName {
  return STATE_NAMES[kind];
}

/** The question that is open in this state. */
export function openQuestionOf(control: ControlState): SessionQuestion | null {
  return 'question' in control ? control.question : null;
}

/** Whether the end of a message concerns the session. */
export function isWaiting({ kind }: ControlState): boolean {
  return kind.startsWith('awaiting_') || kind === 'needs_corrections';
}

/** Whether the model's text is read for the session. */
export function isOpen(control: ControlState): boolean {
  return isWaiting(control) || control.kind === 'finalizing';
}

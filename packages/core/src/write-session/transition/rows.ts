import type { ErrorCode } from '@orion/contracts';

import type { ControlEvent, ControlLimits, ControlState, Transition } from '../control.ts';
import { openQuestionOf } from '../control.ts';
import {
  aborted,
  finalized,
  ignored,
  invalid,
  moved,
  ordinary,
  paused,
  refused,
} from './outcomes.ts';

/** One column of the state table: what each event does in a state. */
export type Rows<State> = {
  readonly [Type in ControlEvent['type']]: (
    state: State,
    event: Extract<ControlEvent, { readonly type: Type }>,
    limits: ControlLimits,
  ) => Transition;
};

const isIgnored = (): Transition => ignored;
const isInvalid = (): Transition => invalid;
const isOrdinary = (): Transition => ordinary;

/** A question that is not answered, or not asked yet, stays open. */
function pausedWith(code: ErrorCode) {
  return (state: ControlState, _event: unknown, { unasked }: ControlLimits): Transition =>
    paused(code, openQuestionOf(state) ?? unasked);
}

/** The default for each event; a missing event is a type error. */
export const sharedRows: Rows<ControlState> = {
  begin_ok: () => refused('SESSION_ALREADY_ACTIVE'),
  recover_accepted: () => refused('SESSION_ALREADY_ACTIVE'),
  // In a state that reads no message, arriving text is ordinary.
  text: isOrdinary,
  blank_text: isOrdinary,
  end_marker: isOrdinary,
  tool_called: isOrdinary,
  message_end_terminal: isIgnored,
  message_end_question: isIgnored,
  message_end_open: isIgnored,
  message_end_length: isIgnored,
  stream_error: isIgnored,
  // Each of these occurs in one or two states only.
  seam_verified: isInvalid,
  seam_hopeless: isInvalid,
  idle_elapsed: isInvalid,
  question_due: isInvalid,
  answer: isInvalid,
  document_again: isInvalid,
  finalize_ok: isInvalid,
  finalize_needs_corrections: isInvalid,
  finalize_retryable: isInvalid,
  finalize_refused: isInvalid,
  correction_usable: isInvalid,
  correction_unusable: isInvalid,
  save_due: (state) => moved(state, 'write_state'),
  save_failed: (state) => moved(state, 'degrade'),
  limit_exceeded: pausedWith('CONTENT_TOO_LARGE'),
  cancelled: isIgnored,
  abort: () => aborted('SESSION_ABORTED', 'move_to_attic'),
  graceful_stop: (state, _event, { unasked }) =>
    moved(
      { kind: 'paused', code: 'ABORTED', question: openQuestionOf(state) ?? unasked },
      'save',
      'release',
    ),
  inactive: () => moved({ kind: 'idle' }, 'save', 'release'),
  lease_lost: () => moved({ kind: 'idle' }, 'warn_lost'),
  finalize_command: () => finalized('save'),
};

/** The defaults while the model's next message is for the session. */
export const listeningRows: Rows<ControlState> = {
  ...sharedRows,
  tool_called: () => refused('SESSION_BUSY'),
  cancelled: pausedWith('ABORTED'),
};

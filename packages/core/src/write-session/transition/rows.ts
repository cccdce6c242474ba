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

/** What is not answered yet, or was not asked yet, is left to be answered. */
function pausedWith(code: ErrorCode) {
  return (state: ControlState, _event: unknown, { unasked }: ControlLimits): Transition =>
    paused(code, openQuestionOf(state) ?? unasked);
}

/** What an event does where a state does not say otherwise. An event that is missing here is a type error. */
export const sharedRows: Rows<ControlState> = {
  begin_ok: () => refused('SESSION_ALREADY_ACTIVE'),
  recover_accepted: () => refused('SESSION_ALREADY_ACTIVE'),
  // A state that reads no message has nothing to do with what arrives.
  text: isOrdinary,
  blank_text: isOrdinary,
  end_marker: isOrdinary,
  tool_called: isOrdinary,
  message_end_terminal: isIgnored,
  message_end_question: isIgnored,
  message_end_open: isIgnored,
  message_end_length: isIgnored,
  stream_error: isIgnored,
  // Each of these belongs to one state or two.
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

/** The same while the model's next message is for the session. */
export const listeningRows: Rows<ControlState> = {
  ...sharedRows,
  tool_called: () => refused('SESSION_BUSY'),
  cancelled: pausedWith('ABORTED'),
};

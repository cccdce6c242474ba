import type { ErrorCode } from '@orion/contracts';

import type { AwaitingContent, ControlLimits, Transition } from '../control.ts';
import { MAX_RETRIES } from '../control.ts';
import { aborted, filledSession, finalized, invalid, moved, paused, refused } from './outcomes.ts';
import { listeningRows } from './rows.ts';
import type { Rows } from './rows.ts';

export const fromAwaitingContent: Rows<AwaitingContent> = {
  ...listeningRows,
  text: (_state, { text }) => moved(filledSession, 'cancel_idle_timer', { type: 'buffer', text }),
  blank_text: (state, { text }) => moved(state, 'cancel_idle_timer', { type: 'buffer', text }),
  end_marker: endedEmpty,
  message_end_terminal: endedEmpty,
  message_end_question: () => invalid,
  message_end_open: (state, _event, { idleMs }) =>
    idleMs === 0 ? paused('NO_DONE') : moved({ ...state, retries: 0 }, 'start_idle_timer'),
  message_end_length: (state) => retried(state, 'NO_DONE'),
  stream_error: (state, { retryable, code }) => (retryable ? retried(state, code) : paused(code)),
  idle_elapsed: (state, _event, { maxIdlePrompts }) =>
    state.idlePrompts >= maxIdlePrompts
      ? nothingToKeep()
      : moved(
          { ...state, idlePrompts: state.idlePrompts + 1 },
          state.emptyAsked ? 'ask_empty' : 'ask_idle',
        ),
  abort: () => aborted('SESSION_ABORTED', 'remove_directory'),
  inactive: nothingToKeep,
  finalize_command: () => refused('EMPTY_CONTENT'),
};

/** A marker without content; a second one confirms an empty file (R035). */
function endedEmpty(
  state: AwaitingContent,
  _event: unknown,
  { operation, idleMs }: ControlLimits,
): Transition {
  if (state.emptyAsked && operation === 'create') return finalized('save');
  if (idleMs === 0) return paused('EMPTY_CONTENT');
  return moved({ ...state, emptyAsked: true, retries: 0 }, 'start_idle_timer');
}

function nothingToKeep(): Transition {
  return aborted('EMPTY_CONTENT', 'remove_directory');
}

function retried(state: AwaitingContent, code: ErrorCode): Transition {
  if (state.retries >= MAX_RETRIES) return paused(code);
  const attempt = state.retries + 1;
  return moved({ ...state, retries: attempt }, { type: 'resend', attempt });
}

import type { Finalizing } from '../control.ts';
import { MAX_CORRECTION_ROUNDS, MAX_FINALIZE_RETRIES } from '../control.ts';
import { asking, finalized, ignored, invalid, moved, paused, queued, refused } from './outcomes.ts';
import { sharedRows } from './rows.ts';
import type { Rows } from './rows.ts';

export const fromFinalizing: Rows<Finalizing> = {
  ...sharedRows,
  begin_ok: () => queued,
  tool_called: () => queued,
  blank_text: () => ignored,
  question_due: (_state, { question, messageOpen, attended }) => {
    if (!attended) return paused('NO_DONE', question);
    return messageOpen
      ? moved(asking(question, { asked: false }), 'save')
      : moved(asking(question), 'save', 'ask_question');
  },
  finalize_ok: () => moved({ kind: 'done' }, 'remove_directory'),
  finalize_needs_corrections: (_state, { asked, round, places }) => {
    if (asked === 'nobody' || round >= MAX_CORRECTION_ROUNDS) {
      return finalized('safe_replacement', 'save');
    }
    if (asked === 'program') return paused('INVALID_CONTENT');
    return moved({ kind: 'needs_corrections', round, places }, 'save', 'ask_corrections');
  },
  finalize_retryable: ({ attempts }, { code }) =>
    attempts >= MAX_FINALIZE_RETRIES
      ? paused(code)
      : moved({ kind: 'finalizing', attempts: attempts + 1 }, 'retry_finalize'),
  finalize_refused: (_state, { code }) => paused(code),
  // The commit continues, from memory if necessary.
  cancelled: (state) => moved(state),
  save_failed: (state) => moved(state),
  save_due: () => ignored,
  limit_exceeded: () => invalid,
  abort: (state, event, limits) =>
    event.writing ? refused('SESSION_BUSY') : sharedRows.abort(state, event, limits),
  graceful_stop: (state) => moved(state),
  inactive: () => ignored,
  lease_lost: (state, event, limits) =>
    event.writing ? moved(state) : sharedRows.lease_lost(state, event, limits),
  finalize_command: (state) => moved(state),
};

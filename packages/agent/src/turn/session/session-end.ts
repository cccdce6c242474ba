import type { ErrorCode, WriteReceipt } from '@orion/contracts';
import type { WriteSession } from '@orion/core';

import { describePaused } from '../paused-session.ts';
import type { SessionPlace } from '../paused-session.ts';
import type { SessionEvent } from './session-event.ts';
import type { SessionOutcome } from './session-run.ts';

/** How a session ended here, and what its last event adds to its state; null: there is no last event. */
export type SessionEnd = {
  readonly outcome: SessionOutcome;
  readonly said: Partial<SessionEvent> | null;
};

/** Of a session that is not open any more. `receipt`: of the file that it has become. */
export function endOf(
  session: WriteSession,
  receipt: WriteReceipt | null,
  place: SessionPlace,
): SessionEnd {
  const { control } = session;
  switch (control.kind) {
    case 'done':
      if (receipt === null) throw new Error('a session is done without a receipt');
      return { outcome: { kind: 'committed', receipt }, said: { receipt } };
    case 'paused':
      return pausedEnd(session, control.code, session.message, place);
    case 'aborted': {
      const { code } = control;
      return { outcome: { kind: 'aborted', code }, said: { code } };
    }
    case 'idle':
      return { outcome: { kind: 'lost' }, said: null };
    case 'awaiting_content':
    case 'awaiting_more':
    case 'awaiting_answer':
    case 'finalizing':
    case 'needs_corrections':
      throw new Error(`a session ended in ${control.kind}`);
    default:
      return control satisfies never;
  }
}

/** `message`: why, where that is more than the code says. */
export function pausedEnd(
  session: WriteSession,
  code: ErrorCode,
  message: string | null,
  place: SessionPlace,
): SessionEnd {
  const paused = describePaused(session, code, place);
  return {
    outcome: { kind: 'paused', paused, message },
    said: { status: 'session_active.paused', code, paused },
  };
}

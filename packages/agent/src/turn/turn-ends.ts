import type { ErrorCode, RefusedFile, RunEventBody, SessionHandle } from '@orion/contracts';
import { defined, OrionError, visibleName } from '@orion/contracts';

import { nextStep } from './next-step.ts';
import { describePaused } from './paused-session.ts';
import { pausedMessage } from './receipt-message.ts';
import type { RecoveredSession } from './recovery.ts';
import { sessionEvent } from './session/session-event.ts';
import type { SessionOutcome } from './session/session-run.ts';
import type { TurnEnd, TurnScope } from './turn-scope.ts';

/** How a turn ends when its write session did not, and what a person reads of it. */

export function notice(message: string): RunEventBody {
  return { type: 'chunk', content: `${message}\n`, source: 'notice' };
}

export function notUsed(refused: readonly RefusedFile[]): string {
  const files = refused.map(({ path, reason }) => `${visibleName(path)} (${reason})`).join(', ');
  return `Not used: ${files}. Correct or remove ${refused.length === 1 ? 'it' : 'them'}.`;
}

/** For a session that a person, or another process, continues. */
export function* unfinishedEnd(
  outcome: Extract<SessionOutcome, { kind: 'paused' | 'lost' }>,
  { metadata }: Pick<SessionHandle, 'metadata'>,
  turn: Pick<TurnScope, 'signal' | 'state' | 'owned'>,
): Generator<RunEventBody, TurnEnd> {
  if (outcome.kind === 'lost') {
    const message = `Another process took over the write session for ${metadata.target_file}.`;
    const error = new OrionError({ code: 'SESSION_BUSY', message });
    if (turn.owned !== null) {
      // A failover can forget the session and not the turn, whose next attempt finds what became of it.
      turn.owned.giveBack(error);
      throw error;
    }
    yield { type: 'error', error: error.toInfo() };
    return { status: 'error' };
  }
  if (outcome.message !== null && outcome.paused.code !== 'ABORTED') {
    const { session_id: sessionId, rescued_text, commands } = outcome.paused;
    const code = outcome.paused.code as ErrorCode;
    const hint = nextStep(code, { sessionId, rescuedText: rescued_text ?? null }, commands[0]);
    const error = new OrionError({ code, message: outcome.message, hint });
    yield { type: 'error', error: error.toInfo() };
  }
  if (turn.signal.aborted) return { status: 'paused', stopReason: 'cancelled' };
  // Only a budget stops a turn while a session is open.
  return { status: 'paused', ...defined({ stopReason: turn.state.stop?.reason }) };
}

/** Whether writing the text again would not add it a second time to a file that has it (R088). */
export function mayRepeat({ handle }: RecoveredSession): boolean {
  return !['append', 'insert'].includes(handle.metadata.operation);
}

/**
 * Somebody else changed the file between the commit's record and now: a person decides. `written` names the file that
 * had the text before that.
 */
export function* overtakenEnd(
  recovered: RecoveredSession,
  written: string | null,
  scope: Pick<TurnScope, 'answerBegin'>,
): Generator<RunEventBody, TurnEnd> {
  const { handle, session } = recovered;
  yield notice(
    written === null
      ? `${handle.metadata.target_file} was changed before the text could be written.`
      : `${written} has its text already: it was written before the interruption, and the file was changed since.`,
  );
  const paused = describePaused(
    session,
    'TARGET_CHANGED',
    { directory: handle.directory, rescuedText: null },
    written === null || mayRepeat(recovered),
  );
  scope.answerBegin(pausedMessage(paused, null, written !== null), 'open');
  yield {
    ...sessionEvent(session, session.summary.bytes),
    status: 'session_active.paused',
    code: 'TARGET_CHANGED',
    paused,
  };
  return { status: 'paused' };
}

import { OrionError } from '@orion/contracts';
import { shown } from '../path-policy/parse-target.ts';
import type { Inspection } from './inspect-session.ts';
import { asFarAs } from './session-key.ts';

/** `elsewhere`: the root of the workspace that owns the session. */
export function sessionNotFound(sessionId: string, elsewhere: string | null): OrionError {
  return new OrionError({
    code: 'SESSION_NOT_FOUND',
    message: 'Session not found or expired. Please start a new write session.',
    ...(elsewhere === null ? {} : { hint: `It belongs to ${shown(elsewhere)}: recover it there.` }),
    details: { session_id: sessionId.slice(0, 64) },
  });
}

export function sessionBusy(sessionId: string): OrionError {
  return new OrionError({
    code: 'SESSION_BUSY',
    message: `The write session ${sessionId} is in use by another process.`,
    details: { session_id: sessionId },
  });
}

export function sessionDamaged(inspection: Inspection): OrionError {
  return new OrionError({
    code: 'SESSION_DAMAGED',
    message: `The write session ${inspection.id} is damaged: ${inspection.problem ?? 'unreadable'}.`,
    hint: copyOut(inspection.id),
    details: { session_id: inspection.id },
  });
}

/** `keyProblem`: why even this user's own sessions count as foreign. */
export function sessionForeign(sessionId: string, keyProblem: string | null): OrionError {
  return new OrionError({
    code: 'SESSION_FOREIGN',
    message: `The write session ${sessionId} was not made by you here${asFarAs(keyProblem)}.`,
    hint: copyOut(sessionId),
    details: { session_id: sessionId },
  });
}

function copyOut(sessionId: string): string {
  return `Copy the text of session ${sessionId} out.`;
}

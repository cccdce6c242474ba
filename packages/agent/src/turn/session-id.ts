/**
 * The ids of write sessions. They tell whether a session may belong to a call, so that whoever looks for one need not
 * read all that are stored: where thousands are paused, that takes seconds.
 *
 * 1. The last digits follow from the call that began the session. Sessions of other calls may have the same ones, so only
 *    the stored turn proves whose it is.
 */
import { createHash, randomUUID } from 'node:crypto';

import type { TurnRecord } from '@orion/contracts';

const MARK_DIGITS = 8;

/** The call that begins a session. */
export type BeginCall = Pick<TurnRecord, 'requestId' | 'callId'>;

/** A lower-case UUID v4. A program that uploads begins without a call. */
export function newSessionId(call?: BeginCall): string {
  const id = randomUUID();
  return call === undefined ? id : id.slice(0, -MARK_DIGITS) + markOf(call);
}

export function mayBeOfCall(call: BeginCall): (sessionId: string) => boolean {
  const mark = markOf(call);
  return (sessionId) => sessionId.endsWith(mark);
}

function markOf({ requestId, callId }: BeginCall): string {
  const named = JSON.stringify([requestId, callId]);
  return createHash('sha256').update(named).digest('hex').slice(0, MARK_DIGITS);
}

import type { SessionStateName } from '@orion/contracts';

import type { SessionView } from '../turn/turn-view.ts';

const WORDS: Readonly<Record<SessionStateName, string>> = {
  idle: 'idle',
  'session_active.awaiting_content': 'waiting for text',
  'session_active.awaiting_done_or_more_content': 'receiving',
  'session_active.awaiting_answer': 'asking where the file ends',
  'session_active.finalizing': 'writing the file',
  'session_active.needs_corrections': 'corrections',
  'session_active.paused': 'paused',
  done: 'written',
  aborted: 'not written',
};

/** Nothing writes it any more when its turn is over. */
type OfTurn = { readonly isOver: boolean };

/** The state of a write in words. */
export function sessionWords({
  status,
  corrections,
  code,
  isHeldUp,
  isRecovered,
  pendingApproval,
  isOver,
}: Pick<
  SessionView,
  'status' | 'corrections' | 'code' | 'isHeldUp' | 'isRecovered' | 'pendingApproval'
> &
  OfTurn): string {
  // The server ended the turn where it was.
  if (isOver && isOpen({ status })) return 'left unfinished';
  const isWaiting = pendingApproval !== null && isOpen({ status });
  const known = isWaiting ? 'waiting for your yes' : (WORDS[status] ?? status);
  const words = isRecovered && isOpen({ status }) ? `recovered, ${known}` : known;
  if (isHeldUp && isOpen({ status })) return `${words}, saving is held up`;
  if (corrections !== null && !isWaiting)
    return `corrections ${corrections.attempt} of ${corrections.max_attempts}`;
  return code === null ? words : `${words} (${code})`;
}

export function isOpen({ status }: Pick<SessionView, 'status'>): boolean {
  return status !== 'done' && status !== 'aborted' && status !== 'session_active.paused';
}

/** Something happens without anybody's doing. */
export function isAtWork({
  status,
  pendingApproval,
  isOver,
}: Pick<SessionView, 'status' | 'pendingApproval'> & OfTurn): boolean {
  return !isOver && isOpen({ status }) && pendingApproval === null;
}

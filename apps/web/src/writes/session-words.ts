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

/** The state of a write in words. */
export function sessionWords({
  status,
  corrections,
  code,
  isHeldUp,
  isRecovered,
}: Pick<SessionView, 'status' | 'corrections' | 'code' | 'isHeldUp' | 'isRecovered'>): string {
  const known = WORDS[status] ?? status;
  const words = isRecovered && isOpen({ status }) ? `recovered, ${known}` : known;
  if (isHeldUp && isOpen({ status })) return `${words}, saving is held up`;
  if (corrections !== null)
    return `corrections ${corrections.attempt} of ${corrections.max_attempts}`;
  return code === null ? words : `${words} (${code})`;
}

export function isOpen({ status }: Pick<SessionView, 'status'>): boolean {
  return status !== 'done' && status !== 'aborted' && status !== 'session_active.paused';
}

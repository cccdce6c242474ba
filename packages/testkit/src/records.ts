/** What is stored of a session and its turn. Without the imports that only tests can have, for programs. */
import type { SessionRecord, TurnRecord } from '@orion/contracts';

/** Of a session of which nothing is known but its text. */
export const SESSION_RECORD: SessionRecord = {
  version: 1,
  state: 'session_active.awaiting_done_or_more_content',
  fence_stripped: false,
  fence_asked: false,
  inner_done_lines: [],
  seams: [],
  idle_prompts: 0,
};

export const TURN_RECORD: TurnRecord = {
  version: 1,
  requestId: 'r',
  projectId: 'p',
  conversationId: 'c',
  provider: 'v',
  model: 'm',
  protocol: 'standard',
  callId: 'k',
  mode: 'act',
  messages: [],
  options: {},
};

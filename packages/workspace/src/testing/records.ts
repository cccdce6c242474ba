import type { SessionRecord, TurnRecord } from '@orion/contracts';

/** What is stored of a session and its turn; without the imports that only tests can have. */
export const TURN: TurnRecord = {
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

export const RECORD: SessionRecord = {
  version: 1,
  state: 'session_active.awaiting_done_or_more_content',
  fence_stripped: false,
  fence_asked: false,
  inner_done_lines: [],
  seams: [],
  idle_prompts: 0,
};

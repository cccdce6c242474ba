import type { PausedSession, RunEvent, RunEventBody, WriteReceipt } from '@orion/contracts';

let seq = 0;

export function event(body: RunEventBody): RunEvent {
  seq += 1;
  return {
    seq,
    requestId: 'r1',
    projectId: 'p1',
    conversationId: 'c1',
    protocol: 'standard',
    phase: 'action',
    phaseIndex: 0,
    cycleIndex: 0,
    ...body,
  } as RunEvent;
}

export const RECEIPT: WriteReceipt = {
  session_id: 's1',
  target_file: 'docs/n.txt',
  operation: 'create',
  bytes: 2052,
  lines: 240,
  sha256: 'c7632900127f200879a7466edccfc60ed8333efc1c4c8dd917d21aa8e9359127',
  eol: 'lf',
  bom: false,
  mode: '0644',
  persistence: 'disk',
  fence_stripped: false,
  inner_done_lines: [],
  seams: [],
  validation_summary: {
    attempts: 0,
    invalid_found: 0,
    corrected: 0,
    replaced: 0,
    used_safe_replacement: false,
    original_length: 2052,
    final_length: 2052,
  },
  warnings: [],
  not_kept: [],
};

export const PAUSED: PausedSession = {
  session_id: 's1',
  target_file: 'docs/n.txt',
  operation: 'create',
  code: 'SEAM_UNVERIFIED',
  lines: 30,
  bytes: 210,
  session_dir: '/w/.orion/logs/write_sessions/s1',
  commands: ['orion recover-session s1', 'orion recover-session s1 --finalize'],
};

type SessionBody = Extract<RunEventBody, { type: 'write_session' }>;

export function session(body: Partial<SessionBody> = {}): RunEvent {
  return event({
    type: 'write_session',
    sessionId: 's1',
    status: 'session_active.awaiting_content',
    targetFile: 'docs/n.txt',
    operation: 'create',
    bytes: 0,
    lines: 0,
    durableBytes: 0,
    ...body,
  });
}

export function chunk(content: string, source: 'model' | 'notice' = 'model'): RunEvent {
  return event({ type: 'chunk', content, source });
}

export function content(text: string, offset = 0): RunEvent {
  const length = Buffer.byteLength(text);
  return event({ type: 'write_chunk', sessionId: 's1', offset, length, content: text });
}

export function done(body: Partial<Extract<RunEventBody, { type: 'done' }>> = {}): RunEvent {
  return event({
    type: 'done',
    fullContent: '',
    status: 'complete',
    protocolReason: 'default',
    ...body,
  });
}

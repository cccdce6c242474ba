import type { RunEventBody } from '@orion/contracts';
import { expect, it } from 'vitest';

import { eventStamper } from './event-stamper.ts';

it('says of a content stage that it is an action, after the tool phase that began it (R154)', () => {
  const stamp = eventStamper({
    requestId: 'r',
    projectId: 'p',
    conversationId: 'c',
    protocol: 'two-stage',
  });
  const bodies: readonly RunEventBody[] = [
    { type: 'phase', phase: 'action', index: 0 },
    { type: 'phase', phase: 'tool', index: 1 },
    { type: 'tool_result', callId: '1', toolName: 't', ok: true, summary: '' },
    {
      type: 'write_session',
      sessionId: 's',
      status: 'session_active.awaiting_content',
      targetFile: 'a',
      operation: 'create',
      bytes: 0,
      lines: 0,
      durableBytes: 0,
    },
    { type: 'write_chunk', sessionId: 's', offset: 0, length: 1, content: 'x' },
    { type: 'phase', phase: 'action', index: 2 },
    { type: 'done', fullContent: '', status: 'complete', protocolReason: 'default' },
  ];
  const events = bodies.map((body) => stamp(body, 1));
  expect(events.map((event) => [event.seq, event.phase, event.phaseIndex])).toEqual([
    [1, 'action', 0],
    [2, 'tool', 1],
    [3, 'tool', 1],
    [4, 'action', 1],
    [5, 'action', 1],
    [6, 'action', 2],
    [7, 'complete', 2],
  ]);
});

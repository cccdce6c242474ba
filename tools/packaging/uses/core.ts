// prints: session_active.finalizing "a line\n"
import { advance, createSession, recordOf, type SessionInput } from '@orion/core';

let { session, effects } = createSession(
  {
    version: 1,
    session_id: '7f3a0000-0000-4000-8000-000000000000',
    intent: 'use',
    target_file: 'a.txt',
    operation: 'create',
    created_at: '2026-01-01T00:00:00.000Z',
    end_marker: 'DONE 7f3a',
    final_newline: true,
    target: {
      path: 'a.txt',
      realPath: '/workspace/a.txt',
      exists: false,
      sha256: null,
      bytes: 0,
      mode: 0,
      eol: 'none',
      bom: false,
    },
  },
  {
    idleMs: 2000,
    maxIdlePrompts: 3,
    saveLines: 50,
    saveMs: 5000,
    maxBytes: 1024,
    doneMode: 'terminal',
    doneSettleMs: 250,
    strict: false,
    stripFence: 'auto',
    seam: 'ask',
    askOmissions: true,
    signalsMessageEnd: true,
  },
);
const inputs: readonly SessionInput[] = [
  { type: 'message_started' },
  { type: 'text', text: 'a li' },
  { type: 'text', text: 'ne\nDO' },
  { type: 'text', text: 'NE' },
  { type: 'message_ended', end: { kind: 'stop' } },
];
let content = '';
for (const input of inputs) {
  ({ session, effects } = advance(session, input));
  for (const effect of effects) if (effect.type === 'append') content += effect.text;
}
console.log(recordOf(session).state, JSON.stringify(content));

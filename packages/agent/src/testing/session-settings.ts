import type { SessionSettings } from '@orion/core';

/** Of sessions that a test has for itself: no timer between messages, and little text. */
export const SETTINGS: SessionSettings = {
  idleMs: 0,
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
};

import { expect, it } from 'vitest';

import { isAtWork, sessionWords } from './session-words.ts';

const RECEIVING = {
  status: 'session_active.awaiting_done_or_more_content',
  corrections: null,
  code: null,
  isHeldUp: false,
  isRecovered: false,
  pendingApproval: null,
  isOver: false,
} as const;

it('says each state in words: that it waits for somebody, that it was recovered while it is open, and that saving is held up', () => {
  const words = (more: Partial<Parameters<typeof sessionWords>[0]>): string =>
    sessionWords({ ...RECEIVING, ...more });
  expect(words({})).toBe('receiving');
  expect(words({ isHeldUp: true })).toBe('receiving, saving is held up');
  expect(words({ isRecovered: true })).toBe('recovered, receiving');
  expect(words({ isRecovered: true, isHeldUp: true })).toBe(
    'recovered, receiving, saving is held up',
  );
  expect(words({ isRecovered: true, isHeldUp: true, status: 'done' })).toBe('written');
  expect(words({ isRecovered: true, status: 'session_active.paused', code: 'NO_DONE' })).toBe(
    'paused (NO_DONE)',
  );
  const corrections = { attempt: 2, max_attempts: 3, invalid_found: 1, places: [] };
  expect(words({ corrections })).toBe('corrections 2 of 3');
  const asked = {
    status: 'session_active.finalizing',
    pendingApproval: 'a',
    isOver: false,
  } as const;
  expect(words({ ...asked, pendingApproval: null })).toBe('writing the file');
  expect(words(asked)).toBe('waiting for your yes');
  expect(words({ ...asked, corrections })).toBe('waiting for your yes');
  expect(words({ ...asked, isRecovered: true })).toBe('recovered, waiting for your yes');
  expect(words({ ...asked, status: 'session_active.paused' })).toBe('paused');
  expect(isAtWork(RECEIVING)).toBe(true);
  expect(isAtWork(asked)).toBe(false);
});

it('says of a write whose turn was ended that it is left', () => {
  const left = { ...RECEIVING, isOver: true };
  expect([sessionWords(left), isAtWork(left)]).toEqual(['left unfinished', false]);
  expect(sessionWords({ ...left, isRecovered: true, pendingApproval: 'a' })).toBe(
    'left unfinished',
  );
  expect(sessionWords({ ...left, status: 'done' })).toBe('written');
  expect(sessionWords({ ...left, status: 'session_active.paused', code: 'NO_DONE' })).toBe(
    'paused (NO_DONE)',
  );
});

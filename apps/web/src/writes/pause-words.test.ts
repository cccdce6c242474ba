import { ERROR_CODES } from '@orion/contracts';
import { expect, test } from 'vitest';

import { answersIn, pauseWords, waysOn } from './pause-words.ts';

test('each code has a sentence, without commands or options of a terminal', () => {
  for (const code of [
    'NO_DONE',
    'SEAM_UNVERIFIED',
    'CONTENT_TOO_LARGE',
    'TARGET_CHANGED',
    'FILE_EXISTS',
    'TARGET_NOT_UTF8',
    'INVALID_CONTENT',
    'EMPTY_CONTENT',
    'VALIDATION_FAILED',
    'APPROVAL_REFUSED',
    'BUDGET_EXHAUSTED',
    'ABORTED',
    'DISK_FULL',
    'READ_ONLY',
    'PERMISSION_DENIED',
    'PROTECTED_PATH',
    'PROVIDER_AUTH',
    'STREAM_BROKEN',
    'SESSION_DAMAGED',
    'SESSION_FOREIGN',
  ])
    expect([code, pauseWords(code)]).toEqual([code, expect.stringMatching(/^[A-Z][^`]+\.$/u)]);
  expect(pauseWords('OF_A_NEWER_SERVER')).toBe('OF_A_NEWER_SERVER');
  expect(pauseWords('READ_ONLY')).toBe(ERROR_CODES.READ_ONLY);
});

const session = { session_id: 's', status: 'paused', bytes: 10, uploaded: false } as const;

test('what can be done follows from the state', () => {
  const all = { canWrite: true, canDiscard: true, hasConflict: false };
  const command = 'orion recover-session s';
  expect(waysOn(session)).toEqual({ ...all, command });
  expect(waysOn({ ...session, uploaded: true })).toEqual({ ...all, command: null });
  expect(waysOn({ ...session, bytes: 0 })).toEqual({ ...all, canWrite: false, command });
  for (const code of ['TARGET_CHANGED', 'FILE_EXISTS'])
    expect(waysOn({ ...session, code })).toEqual({ ...all, hasConflict: true, command });
  expect(waysOn({ ...session, code: 'TARGET_NOT_UTF8' })).toMatchObject({ canWrite: false });
  for (const status of ['damaged', 'foreign'] as const)
    expect(waysOn({ ...session, status })).toEqual({ ...all, canWrite: false, command: null });
  expect(waysOn({ ...session, status: 'in_use' })).toEqual({
    canWrite: false,
    canDiscard: false,
    hasConflict: false,
    command: null,
  });
});

test('the answers of a question are those that its sentence names', () => {
  expect(
    answersIn(
      'First decide whether it ends there: add --end-at 12 or --end-at 3 or --answer done.',
    ),
  ).toEqual([
    { words: 'The file ends before line 12', body: { endAt: 12 } },
    { words: 'The file ends before line 3', body: { endAt: 3 } },
    { words: expect.stringContaining('complete'), body: { answer: 'done' } },
  ]);
  expect(answersIn('add --answer keep or --answer strip.').map(({ body }) => body)).toEqual([
    { answer: 'keep' },
    { answer: 'strip' },
  ]);
  expect(answersIn('Nothing is saved.')).toEqual([]);
});

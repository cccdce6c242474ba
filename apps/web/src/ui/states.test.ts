import { expect, it } from 'vitest';

import { ApiError, problemOf } from '../api/api.ts';
import { isUnreachable } from './states.tsx';

/** Hazard: the page takes what stands before a server that is away for the server itself. */

it.each([
  ['no answer', new ApiError(0, 'SERVER_UNREACHABLE', 'no', null), true],
  ['the page of a tunnel', problemOf(530, '<html>'), true],
  ['a refusal of the server', problemOf(404, '{"error":{"code":"TURN_NOT_FOUND"}}'), false],
  ['another error', new Error('no'), false],
  ['no error', null, false],
])('says whether contact is lost: %s', (_what, error, isLost) => {
  expect(isUnreachable(error)).toBe(isLost);
});

import { describe, expect, it } from 'vitest';

import { exitCodeOf, type Ending } from './exit-code.ts';

const QUIET: Ending = {
  status: 'complete',
  stopReason: null,
  errorCode: null,
  sessionOpen: false,
  interrupted: false,
};

describe('exit codes (R077): 2 > 4 > 3 > 130 > 5 > 1 > 0', () => {
  it.each<[Partial<Ending>, number]>([
    [{}, 0],
    [{ status: null }, 0],
    [{ status: 'incomplete' }, 1],
    [{ status: 'error', errorCode: 'PROVIDER_AUTH' }, 1],
    [{ status: 'error', errorCode: null }, 1],
    [{ status: null, errorCode: 'SESSION_NOT_FOUND' }, 1],
    [{ status: null, errorCode: 'INTERNAL_ERROR' }, 1],
    [{ status: null, errorCode: 'MODEL_MISSING' }, 2],
    [{ status: null, errorCode: 'CONFIG_INVALID' }, 2],
    [{ status: null, errorCode: 'USAGE' }, 2],
    [{ status: null, errorCode: 'PROTOCOL_UNSUPPORTED' }, 2],
    [{ status: 'paused' }, 3],
    [{ status: 'complete', stopReason: null, sessionOpen: true }, 3],
    [{ status: null, errorCode: 'SESSION_BUSY' }, 4],
    [{ status: 'stopped' }, 5],
    [{ status: 'error', errorCode: 'BUDGET_EXHAUSTED' }, 5],
    [{ status: 'aborted' }, 130],
    [{ status: null, interrupted: true }, 130],
    // Where several fit
    [{ status: 'paused', errorCode: 'CONFIG_INVALID' }, 2],
    [{ status: 'aborted', errorCode: 'SESSION_BUSY', sessionOpen: true }, 4],
    [{ status: 'aborted', sessionOpen: true }, 3],
    [{ status: 'stopped', sessionOpen: true }, 3],
    [{ status: 'error', errorCode: 'PROVIDER_ERROR', sessionOpen: true }, 3],
    [{ status: 'stopped', interrupted: true }, 130],
    [{ status: 'error', errorCode: 'BUDGET_EXHAUSTED', interrupted: true }, 130],
  ])('%j is %i', (ending, code) => {
    expect(exitCodeOf({ ...QUIET, ...ending })).toBe(code);
  });
});

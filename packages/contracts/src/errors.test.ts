import { expect, it } from 'vitest';

import { ERROR_CODES, OrionError, toErrorInfo } from './errors.ts';

it.each(['EMFILE', 'ENFILE'])('%s is a limit of the system, no defect', (code) => {
  const error = Object.assign(new Error(`${code}: too many open files`), { code });
  expect(toErrorInfo(error)).toEqual({
    code: 'RESOURCE_BUSY',
    message: `${code}: too many open files`,
    retryable: true,
    hint: expect.stringContaining('ulimit -n'),
  });
});

it.each([new Error('x'), Object.assign(new Error('x'), { code: 'ENOENT' }), 'x'])(
  'anything else that is thrown is a defect',
  (error) => {
    expect(toErrorInfo(error)).toMatchObject({ code: 'INTERNAL_ERROR', message: 'x' });
  },
);

it('an error of ours says what it is', () => {
  const error = new OrionError({ code: 'USAGE', message: 'No.', hint: 'Yes.' });
  expect(toErrorInfo(error)).toEqual({
    code: 'USAGE',
    message: 'No.',
    retryable: false,
    hint: 'Yes.',
  });
});

it('no next step assumes the command line', () => {
  const steps = Object.entries(ERROR_CODES);
  expect(steps.filter(([, step]) => /--\w|`orion|the command/u.test(step))).toEqual([]);
});

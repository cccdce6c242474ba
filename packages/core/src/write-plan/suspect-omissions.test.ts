import { OrionError } from '@orion/contracts';
import { expect, it } from 'vitest';

import { suspectedOmissions } from './suspect-omissions.ts';

/** Hazard: a warning that keeps a text from being written, or a bug that looks like a text without omissions. */

const none = async (): Promise<ReadonlySet<string>> => new Set();

function failing(error: Error) {
  return async function* text(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from('// ... rest of the code\n');
    throw error;
  };
}

it('suspects nothing in a text that cannot be read', async () => {
  const error = new OrionError({ code: 'VALIDATION_FAILED', message: 'No.' });
  expect(await suspectedOmissions(failing(error), none)).toEqual([]);
});

it('does not hide a bug', async () => {
  await expect(suspectedOmissions(failing(new TypeError('bug')), none)).rejects.toThrow('bug');
});

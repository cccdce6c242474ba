import { OrionError } from '@orion/contracts';
import { expect, test } from 'vitest';

import { validatedText } from './validated-text.ts';

/** Hazard: a text that could not be read back for a moment counts as invalid for good (R089, R101). */

async function readingFails(cause: unknown): Promise<unknown> {
  const { source } = validatedText(async function* () {
    yield Buffer.from('one\n');
    throw cause;
  }, 'a.txt');
  try {
    for await (const _ of source()) void _;
  } catch (error) {
    return error;
  }
  return null;
}

test('what may pass by itself is told as it is, so that the commit is tried again', async () => {
  const busy = new OrionError({
    code: 'RESOURCE_BUSY',
    message: 'content.txt: too many open files (EMFILE).',
    retryable: true,
  });
  expect(await readingFails(busy)).toBe(busy);
});

test.each([
  new Error('EIO: i/o error, read'),
  new OrionError({ code: 'WRITE_FAILED', message: 'content.txt: an error of the device (EIO).' }),
])('any other failure to read stops the write: %s', async (cause) => {
  expect(await readingFails(cause)).toMatchObject({
    code: 'VALIDATION_FAILED',
    message: 'The saved text for a.txt could not be read back, so nothing was written.',
    retryable: false,
    cause,
  });
});

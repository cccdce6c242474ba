import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';

import { expect, test } from 'vitest';

import { bodyOfMessage } from './body.ts';

test('what has come since the last read is given as one, and before the failure that follows it', async () => {
  const message = new PassThrough();
  const body = bodyOfMessage(message as unknown as IncomingMessage);
  message.write('a');
  message.write('bc');
  message.write('d');
  expect(await body.read()).toEqual({ kind: 'bytes', bytes: Buffer.from('abcd') });

  const cut = new Error('reset');
  message.write('e');
  message.write('f');
  await new Promise(setImmediate);
  message.destroy(cut);
  expect(await body.read()).toEqual({ kind: 'bytes', bytes: Buffer.from('ef') });
  expect(await body.read()).toEqual({ kind: 'error', error: cut });
});

// What is stored of a text arrives whole, or its client sees that it has not.
import { OrionError } from '@orion/contracts';
import { expect, it } from 'vitest';

import { codeOf, startTestServer } from '../testing/test-server.ts';
import { uploadClient } from '../testing/uploads.ts';

type Source = () => AsyncGenerator<Uint8Array, void>;

const unreadable = (): OrionError =>
  new OrionError({ code: 'PERMISSION_DENIED', message: 'The saved text cannot be read.' });

/** A session of ten bytes, of which reading finds what the source has. */
async function startReading(source: Source) {
  const server = await startTestServer();
  const { begin, put, ask } = uploadClient(server.port);
  const id = await begin();
  await put(id, 0, '0123456789');
  Object.assign(server.orion.writeSessions, { read: source });
  return { ...server, read: () => ask(`/${id}/content`) };
}

it.each<[string, Source, number, string]>([
  ['cannot be read', () => failing(), 403, 'PERMISSION_DENIED'],
  ['was removed before its first byte was read', () => parts(), 409, 'SESSION_BUSY'],
])('a text that %s is refused', async (_name, source, status, code) => {
  const { read } = await startReading(source);
  const answer = await read();
  expect([answer.status, codeOf(answer.json)]).toEqual([status, code]);
});

it.each<[string, Source, string]>([
  ['fails', () => failing('01234'), 'PERMISSION_DENIED'],
  ['ends', () => parts('01234'), 'SESSION_BUSY'],
  ['fails later', () => failing('01', '2', '3', '4'), 'PERMISSION_DENIED'],
])('a text of which the reading %s has no end that looks like one', async (_name, source, code) => {
  const { read, log } = await startReading(source);
  await expect(read()).rejects.toThrow(/aborted|hang up|reset/u);
  expect(log.join('')).toContain(`stored text broken off: ${code}`);
});

async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array, void> {
  for (const text of texts) {
    await new Promise(setImmediate);
    yield Buffer.from(text);
  }
}

async function* failing(...texts: readonly string[]): AsyncGenerator<Uint8Array, void> {
  yield* parts(...texts);
  throw unreadable();
}

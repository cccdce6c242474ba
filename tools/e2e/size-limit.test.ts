import { expect } from 'vitest';

import { writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

const LIMIT = { WRITE_SESSION_MAX_BYTES: '100' };
const EXACT = `${'x'.repeat(99)}\n`;

test.concurrent('R011: exactly the limit is accepted', async ({ machine }) => {
  const provider = await machine.provider(writeMessages('a.txt', [`${EXACT}DONE`]));
  const ended = await machine.ask(provider, [], { env: LIMIT });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe(EXACT);
});

test.concurrent('R011: one byte more pauses with CONTENT_TOO_LARGE, names the limit and keeps what fits', async ({
  machine,
}) => {
  const provider = await machine.provider(writeMessages('a.txt', [`${EXACT}yDONE`]));
  const ended = await machine.ask(provider, ['--json'], { env: LIMIT });
  expect(ended.exitCode, ended.stderr).toBe(3);
  const [session] = await machine.sessions();
  const recover = `orion recover-session ${session?.id ?? ''}`;
  expect(ended.result().paused).toMatchObject([
    {
      code: 'CONTENT_TOO_LARGE',
      bytes: 100,
      commands: [`${recover} --max-bytes 200`, `${recover} --finalize`, `${recover} --discard`],
    },
  ]);
  const errors = ended.events().flatMap((event) => (event.type === 'error' ? [event.error] : []));
  expect(errors.map(({ message }) => message)).toEqual([
    'The text for a.txt is larger than the limit of 100 bytes (WRITE_SESSION_MAX_BYTES).',
  ]);
  expect(String(await session?.content())).toBe(EXACT);
  expect(await machine.exists('a.txt')).toBe(false);
});

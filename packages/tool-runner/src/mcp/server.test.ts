import { expect, test } from 'vitest';

import { MCP_LIMITS } from './server.ts';

test('the limits are those of the guide', () => {
  expect(MCP_LIMITS).toEqual({
    startMs: 10_000,
    idleMs: 60_000,
    callMs: 600_000,
    messageBytes: 16_777_216,
    resultBytes: 8_388_608,
    messages: 10_000,
    tools: 256,
    descriptionBytes: 4_096,
    definitionBytes: 131_072,
  });
});

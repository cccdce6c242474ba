import { expect, test } from 'vitest';

import { isMcpAddress } from './address.ts';

test.each([
  ['https://example.com/', true, true],
  ['http://localhost:3000/mcp', true, true],
  ['http://127.0.0.1/', true, true],
  ['http://[::1]/', true, true],
  ['http://127.0.0.2/', false, true],
  ['http://localhost.example.com/', false, true],
  ['http://example.com/', false, true],
  ['ws://localhost/', false, false],
  ['file:///etc/passwd', false, false],
])('%s may be asked: %s, and if the user allows plain http: %s', (url, plainly, allowed) => {
  expect(isMcpAddress(new URL(url))).toBe(plainly);
  expect(isMcpAddress(new URL(url), true)).toBe(allowed);
});

import { expect, it } from 'vitest';

import { allowedNames, ownUrl } from './allowed-names.ts';

/** Hazard: the server prints an address by which it cannot be reached. */

it.each([
  ['127.0.0.1', 'http://127.0.0.1:4310'],
  ['0.0.0.0', 'http://127.0.0.1:4310'],
  ['::', 'http://[::1]:4310'],
  ['::1', 'http://[::1]:4310'],
  ['fd00::7', 'http://[fd00::7]:4310'],
  ['FD00:0:0::0007', 'http://[FD00:0:0::0007]:4310'],
  ['orion.internal', 'http://orion.internal:4310'],
  ['Orion.Internal', 'http://Orion.Internal:4310'],
])('a server at %s names itself %s, and allows that', (host, url) => {
  expect(ownUrl({ host, port: 4310 })).toBe(url);
  expect(allowedNames({ host, port: 4310 }, []).hosts).toContain(new URL(url).host);
});

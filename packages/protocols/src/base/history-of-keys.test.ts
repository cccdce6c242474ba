import { expect, test } from 'vitest';

import { historicCall } from './history.ts';

/** Hazard: most of a key in use stays in a history, since the arguments that hold it were cut within it. */

test('a key in use goes out of arguments before they are cut (issue 12, 11)', () => {
  const key = 'a-key-that-has-thirty-letters-';
  const call = {
    id: 'c',
    name: 'read_file',
    arguments: `${'x'.repeat(1010)}${key}`,
    state: 'cut',
  } as const;
  const redact = (text: string): string => text.replaceAll(key, '*');
  expect(historicCall(call, true, redact).arguments).toBe(
    JSON.stringify({ arguments_not_used: `${'x'.repeat(1010)}*`, length: 1040 }),
  );
  expect(historicCall(call, false, redact)).toBe(call);
});

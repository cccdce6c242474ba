import { expect, it } from 'vitest';

import { decisionsOf } from './finish-decisions.ts';

/** Hazard: the person chooses one end of a file, and it gets another. */

it('reads the answers that a paused session takes from its commands', () => {
  const commands = [
    'orion recover-session 1',
    'orion recover-session 1 --finalize',
    'orion recover-session 1 --finalize --answer keep',
    'orion recover-session 1 --finalize --end-at 42 --allow-path .env',
    'orion recover-session 1 --finalize --on-conflict=overwrite',
    'orion recover-session 1 --finalize --on-conflict=keep-both',
    'orion recover-session 1 --discard',
  ];
  expect(decisionsOf(commands).map(({ decision }) => decision)).toEqual([
    { answer: 'keep' },
    { endAt: 42 },
    { onConflict: 'overwrite' },
    { onConflict: 'keep-both' },
  ]);
  expect(decisionsOf(commands)[1]?.label).toBe('end the file before line 42');
});

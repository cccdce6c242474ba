import { expect, it } from 'vitest';

import { stoppingLine } from './stopping-lines.ts';

const GIVEN_BACK = 'What is not finished is saved, and the next start continues it.';

it.each([
  [
    2,
    30_000,
    'SIGINT',
    'Stopping: 2 turns have up to 30 s to finish. Press Ctrl-C again to stop now.',
  ],
  [
    1,
    1_500,
    'SIGTERM',
    'Stopping: 1 turn has up to 2 s to finish. Send the signal again to stop now.',
  ],
  [0, 30_000, 'SIGINT', 'Stopping.'],
  [1, 0, 'SIGINT', `Stopping. ${GIVEN_BACK}`],
] as const)('%i turns, %i ms, %s', (turns, drainMs, signal, line) => {
  expect(stoppingLine({ turns, drainMs, signal })).toBe(line);
});

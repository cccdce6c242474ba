import { expect, it } from 'vitest';

import { stoppingLine } from './stopping-lines.ts';

const GIVEN_BACK = 'What is not finished is saved, and the next start continues it.';
const AGAIN = 'Press Ctrl-C again to stop now.';

it.each([
  [2, 0, 30_000, 'SIGINT', `Stopping: 2 turns have up to 30 s to finish. ${AGAIN}`],
  [
    1,
    0,
    1_500,
    'SIGTERM',
    'Stopping: 1 turn has up to 2 s to finish. Send the signal again to stop now.',
  ],
  [
    1,
    2,
    30_000,
    'SIGINT',
    `Stopping: 1 turn has up to 30 s to finish. The next start continues 2 turns that wait for a person. ${AGAIN}`,
  ],
  [0, 1, 30_000, 'SIGINT', 'Stopping. The next start continues 1 turn that waits for a person.'],
  [0, 0, 30_000, 'SIGINT', 'Stopping.'],
  [1, 1, 0, 'SIGINT', `Stopping. ${GIVEN_BACK}`],
] as const)('%i turns and %i that wait, %i ms, %s', (working, resting, drainMs, signal, line) => {
  expect(stoppingLine({ working, resting, drainMs, signal })).toBe(line);
});

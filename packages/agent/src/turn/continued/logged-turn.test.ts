import type { TurnLogEntry } from '@orion/contracts';
import { expect, it } from 'vitest';

import { readLoggedTurn } from './logged-turn.ts';

/** Hazard: a turn is charged for time in which it had no owner, or waited for a person. */

const HOUR_MS = 3_600_000;

/** The milliseconds that the turn is charged for. */
async function charged(
  entries: readonly (readonly [kind: string, epoch: number, storedAt: number])[],
): Promise<number> {
  const log = entries.map(([kind, epoch, storedAt], index): TurnLogEntry => ({
    turnId: 't',
    seq: index + 1,
    kind,
    epoch,
    storedAt,
    data: { phase: 'tool', phaseIndex: 0, approvalId: 'a', action: {} },
  }));
  async function* read() {
    yield* log;
  }
  return (await readLoggedTurn(read(), 0)).since.milliseconds;
}

it('charges a turn for what its owners took', async () => {
  expect(
    await charged([
      ['phase', 1, 0],
      ['phase', 1, 700],
      ['phase', 2, HOUR_MS],
      ['phase', 2, HOUR_MS + 300],
    ]),
  ).toBe(1_000);
});

it('does not charge it for the time that a person takes', async () => {
  expect(
    await charged([
      ['phase', 1, 0],
      ['approval_requested', 1, 700],
      ['approval_decided', 1, HOUR_MS],
      ['phase', 1, HOUR_MS + 300],
    ]),
  ).toBe(1_000);
});

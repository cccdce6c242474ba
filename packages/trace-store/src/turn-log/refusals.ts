import { OrionError } from '@orion/contracts';
import type { AppendOutcome, TurnAppend } from '@orion/contracts';
import { storeUnavailable } from '../engine/sql-database.ts';
import { misplaced } from './append-all.ts';

/** The error for an append of one turn that was not stored. */
export function refusalOf(
  append: TurnAppend,
  outcome: Exclude<AppendOutcome, { kind: 'stored' }>,
): OrionError {
  const { turnId, epoch } = append;
  switch (outcome.kind) {
    case 'fenced':
      return fenced(turnId, epoch);
    case 'finished':
      return finished(turnId);
    case 'gap':
      return gap(turnId, whereItGaps(append, outcome.lastSeq));
    case 'refused':
      return storeUnavailable(outcome.message, { retryable: false });
  }
  return outcome satisfies never;
}

function whereItGaps(append: TurnAppend, lastSeq: number): string {
  const { expectSeq, events } = append;
  const index = misplaced(append);
  if (index !== null) {
    return `the number ${events[index]?.seq} is in the place of ${expectSeq + index}`;
  }
  const end = expectSeq + events.length - 1;
  return end > lastSeq
    ? `its last number is ${lastSeq}, which ${expectSeq} does not follow`
    : `the numbers from ${expectSeq} to ${end} are taken`;
}

export function fenced(turnId: string, owner: number | string): OrionError {
  return new OrionError({
    code: 'FENCED',
    message: `The turn ${turnId} does not belong to the owner ${owner}`,
  });
}

export function finished(turnId: string): OrionError {
  return new OrionError({ code: 'TURN_FINISHED', message: `The turn ${turnId} is over` });
}

export function gone(turnId: string): OrionError {
  return new OrionError({
    code: 'TURN_NOT_FOUND',
    message: `The store does not have the turn ${JSON.stringify(turnId)} any more`,
  });
}

function gap(turnId: string, why: string): OrionError {
  return new OrionError({
    code: 'TURN_LOG_GAP',
    message: `The events do not continue the turn ${turnId}: ${why}`,
  });
}

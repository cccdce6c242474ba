import type { Outcome } from './campaign.ts';
import { placeOf } from './report.ts';

/**
 * One line of JSON a run, in the order of their names: what was asked and said, and what became of it. What is new in
 * each campaign has a name instead, so that two records of the same product are the same bytes.
 */
export function formatRecord(outcomes: readonly Outcome[]): string {
  return outcomes
    .map((outcome) => ({ place: placeOf(outcome), line: lineOf(outcome) }))
    .toSorted((one, other) => (one.place < other.place ? -1 : 1))
    .map(({ line }) => `${line}\n`)
    .join('');
}

function lineOf(outcome: Outcome): string {
  const { verdict, why, exchanges, ends, recovered } = outcome;
  const line = JSON.stringify({ run: placeOf(outcome), verdict, why, exchanges, ends, recovered });
  return line
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/gu, '<id>')
    .replaceAll(/[^\s"']*orion-manners-[0-9A-Za-z]+/gu, '<root>')
    .replaceAll(/[0-9]{8}T[0-9]{9}Z-[0-9a-f]{8}/gu, '<backup>')
    .replaceAll(/(DONE |tail-|start-|end-)[0-9a-f]{4}/giu, '$1<tag>');
}

import { formatTable } from '@orion/common';

import type { KillOutcome } from './outcome.ts';

/** The outcomes as a table, one row a shape and one for all. */
export function formatReport(outcomes: readonly KillOutcome[]): string {
  const shapes = [...new Set(outcomes.map(({ shape }) => shape))];
  const rows = [
    HEAD,
    ...shapes.map((shape) =>
      row(
        shape,
        outcomes.filter((outcome) => outcome.shape === shape),
      ),
    ),
    row('all', outcomes),
  ];
  return `${formatTable(rows, 'right')}\n\n${LEGEND}\n`;
}

const HEAD = [
  'shape',
  'kills',
  'no session',
  'committed',
  'in session',
  'recovered',
  'equal',
  'seams',
  'lost ms p50',
  'p95',
  'max',
  'certain max',
  'sent ms max',
  'lost bytes p50',
  'max',
  'held back',
  'cleaned later',
  'no turn',
  'failed',
];

const LEGEND = `lost ms: how long before the kill the first lost text had been read by the process, at most (0: nothing lost).
certain: the same without the time between two looks and without waits for a processor or a disk; more than
  100 fails, and on a loaded machine more than 100 and half of those waits.
sent: how long before the kill the first lost text had been sent, whether or not the process could have read it.
lost bytes: what the process had read and not saved. held back: lost in time, as a possible marker or an unproven reply.
cleaned later: files that were left until the start after the recovery. no turn: killed before turn.json, so the recovery had to name the provider.`;

function row(name: string, outcomes: readonly KillOutcome[]): readonly string[] {
  const losses = outcomes.flatMap(({ loss }) => (loss === null ? [] : [loss]));
  const ages = losses.map(({ readAgeMs }) => readAgeMs);
  const bytes = losses.map(({ readBytes, savedBytes }) => Math.max(0, readBytes - savedBytes));
  const count = (test: (outcome: KillOutcome) => boolean): string =>
    String(outcomes.filter(test).length);
  return [
    name,
    String(outcomes.length),
    count(({ found }) => found === 'no session'),
    count(({ found }) => found === 'committed'),
    count(({ found }) => found === 'session'),
    count(({ recovered }) => recovered),
    count(({ byteEqual }) => byteEqual),
    String(outcomes.reduce((sum, { seams }) => sum + seams, 0)),
    percentile(ages, 0.5),
    percentile(ages, 0.95),
    percentile(ages, 1),
    percentile(
      losses.map(({ certainAgeMs }) => certainAgeMs),
      1,
    ),
    percentile(
      losses.map(({ sentAgeMs }) => sentAgeMs),
      1,
    ),
    percentile(bytes, 0.5),
    percentile(bytes, 1),
    count(({ heldBack }) => heldBack),
    count(({ cleanedLater }) => cleanedLater),
    count(({ withoutTurn }) => withoutTurn),
    count(({ failures }) => failures.length > 0),
  ];
}

function percentile(values: readonly number[], part: number): string {
  if (values.length === 0) return '-';
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? 0).toFixed(0);
}

/** What is needed to see a failure again. */
export function formatFailure({ seed, shape, moment, failures, folder }: KillOutcome): string {
  return `FAILED seed ${seed} (${shape}, ${moment}): ${failures.join('; ')}\n  kept in ${folder}\n  again: npm run crash -- --kills 1 --seed ${seed}\n`;
}

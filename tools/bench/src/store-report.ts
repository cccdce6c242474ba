import { formatTable } from '@orion/common';

import type { Goal } from './goals.ts';
import { formatSpread, spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';
import type { OpenResult } from './store-open.ts';
import type { Rate } from './store-rates.ts';
import type { TurnFigures } from './store-turns.ts';

export type StoreRates = {
  readonly recording: readonly Rate[];
  readonly sqlite: readonly Rate[];
  readonly postgres: readonly Rate[];
  readonly plain: readonly Rate[];
};

export type StoreResult = StoreRates & {
  readonly open: OpenResult;
  readonly turns: readonly TurnFigures[];
};

const SQLITE_PER_SECOND = 50_000;
const PLAIN_SHARE = 0.5;
const OPEN_MS = 15;
const TURN_RATIO = 1.05;
const COUNT: Intl.NumberFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function formatRates({ recording, sqlite, postgres, plain }: StoreRates): string {
  const row = (name: string, rates: readonly Rate[]): string[] => [
    name,
    formatSpread(perSecond(rates), (value) => COUNT.format(value)),
    formatSpread(spreadOf(rates.map((rate) => rate.cpuMicroseconds)), 1),
  ];
  return formatTable([
    ['events of about 750 bytes', 'events/s', 'CPU us/event, this thread'],
    row('record() alone', recording),
    row('SQLite, stored', sqlite),
    row('Postgres, stored', postgres),
    row('Postgres, plain driver', plain),
    ['ratio of neighbouring runs', formatSpread(shares(postgres, plain), 2), ''],
  ]);
}

export function formatOpen({ newMs, existingMs, loadMs }: OpenResult): string {
  return formatTable([
    ['opening SQLite in a fresh process', 'ms'],
    ['a new file', formatSpread(newMs, 1)],
    ['an existing file', formatSpread(existingMs, 1)],
    ['before it, loading the package unbundled', formatSpread(loadMs, 1)],
  ]);
}

export function formatTurns(
  figures: readonly TurnFigures[],
  { turns, lines }: { readonly turns: number; readonly lines: number },
): string {
  const ratio = (of: Spread | null): string => (of === null ? '' : formatSpread(of, 2));
  return formatTable([
    [
      `${turns} turns of ${COUNT.format(lines)} lines, the store being`,
      'turn ms',
      'beside the healthy one',
      'process ms',
      'beside the healthy one',
    ],
    ...figures.map((figure) => [
      figure.name,
      formatSpread(figure.turnMs, 0),
      ratio(figure.turnRatio),
      formatSpread(figure.processMs, 0),
      ratio(figure.processRatio),
    ]),
  ]);
}

export function storeGoals({ sqlite, postgres, plain, open, turns }: StoreResult): readonly Goal[] {
  const sqliteRate = perSecond(sqlite).median;
  const share = shares(postgres, plain).median;
  const opened = open.existingMs.median;
  return [
    {
      name: 'SQLite, redaction included',
      wanted: `at least ${COUNT.format(SQLITE_PER_SECOND)} events/s`,
      measured: `${COUNT.format(sqliteRate)} events/s`,
      met: sqliteRate >= SQLITE_PER_SECOND,
    },
    {
      name: 'Postgres, beside 100-row inserts of the plain driver',
      wanted: `at least ${PLAIN_SHARE} x`,
      measured: `${share.toFixed(2)} x`,
      met: share >= PLAIN_SHARE,
    },
    {
      name: 'opening the store',
      wanted: `at most ${OPEN_MS} ms`,
      measured: `${opened.toFixed(1)} ms`,
      met: opened <= OPEN_MS,
    },
    ...turns.flatMap(({ name, beside, turnRatio }) =>
      turnRatio === null
        ? []
        : [
            {
              name: `a turn with ${name}, beside ${beside}`,
              wanted: `at most ${TURN_RATIO} x`,
              measured: `${turnRatio.median.toFixed(2)} x`,
              met: turnRatio.median <= TURN_RATIO,
            },
          ],
    ),
  ];
}

function perSecond(rates: readonly Rate[]): Spread {
  return spreadOf(rates.map((rate) => rate.perSecond));
}

function shares(rates: readonly Rate[], beside: readonly Rate[]): Spread {
  return spreadOf(rates.map((rate, run) => rate.perSecond / (beside[run]?.perSecond ?? 0)));
}

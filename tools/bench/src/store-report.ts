import type { Goal } from './goals.ts';
import { spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';
import type { OpenResult } from './store-open.ts';
import type { Rate } from './store-rates.ts';
import type { TurnFigures } from './store-turns.ts';
import { formatTable } from './table.ts';

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
    spread(perSecond(rates), (value) => COUNT.format(value)),
    spread(spreadOf(rates.map((rate) => rate.cpuMicroseconds)), (value) => value.toFixed(1)),
  ];
  return formatTable([
    ['events of about 750 bytes', 'events/s', 'CPU us/event, this thread'],
    row('record() alone', recording),
    row('SQLite, stored', sqlite),
    row('Postgres, stored', postgres),
    row('Postgres, plain driver', plain),
    [
      'ratio of neighbouring runs',
      spread(shares(postgres, plain), (value) => value.toFixed(2)),
      '',
    ],
  ]);
}

export function formatOpen({ newMs, existingMs, loadMs }: OpenResult): string {
  const milliseconds = (value: number): string => value.toFixed(1);
  return formatTable([
    ['opening SQLite in a fresh process', 'ms'],
    ['a new file', spread(newMs, milliseconds)],
    ['an existing file', spread(existingMs, milliseconds)],
    ['before it, loading the package unbundled', spread(loadMs, milliseconds)],
  ]);
}

export function formatTurns(
  figures: readonly TurnFigures[],
  { turns, lines }: { readonly turns: number; readonly lines: number },
): string {
  const milliseconds = (value: number): string => value.toFixed(0);
  const ratio = (of: Spread | null): string =>
    of === null ? '' : spread(of, (value) => value.toFixed(2));
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
      spread(figure.turnMs, milliseconds),
      ratio(figure.turnRatio),
      spread(figure.processMs, milliseconds),
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

function spread({ median, min, max }: Spread, format: (value: number) => string): string {
  return `${format(median)} (${format(min)}-${format(max)})`;
}

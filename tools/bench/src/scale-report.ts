import { formatTable } from '@orion/common';

import type { Goal } from './goals.ts';
import type { LiveResult } from './scale-live.ts';
import type { QueueDelays } from './scale-queue.ts';
import type { AppendRate, MeasuredCase, Schema } from './scale-rates.ts';
import { formatSpread, spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';

export type ScaleResult = {
  readonly appends: readonly MeasuredCase[];
  readonly live: LiveResult;
  readonly queues: QueueDelays;
};

/** What groups are compared by. */
const GROUP = 100;
const CPU_SHARE = 0.2;
const WAL_SHARE = 1 / 3;
const LIVE_P99_MS = 250;
const QUEUE_P99_MS = 50;
const COUNT: Intl.NumberFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function formatAppends(appends: readonly MeasuredCase[]): string {
  return formatTable([
    ['rows', 'statement', 'rows/s', 'Postgres CPU us/row', 'WAL bytes/row', 'table bytes/row'],
    ...appends.map(({ schema, group, rates }) => [
      schema === 'the first' ? 'of the first schema' : 'as they are',
      group === 1 ? 'one a turn' : `one for ${group} turns`,
      spread(rates, 'perSecond', (value) => COUNT.format(value)),
      spread(rates, 'cpuMicroseconds', (value) => value.toFixed(0)),
      spread(rates, 'walBytes', (value) => value.toFixed(0)),
      spread(rates, 'tableBytes', (value) => value.toFixed(0)),
    ]),
  ]);
}

export function formatLive({
  turns,
  rate,
  appended,
  followed,
  cores,
  ...live
}: LiveResult): string {
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  return formatTable([
    ['two processes', 'events', 'statements', 'their p99 ms', 'p50 ms', 'p99 ms', 'most ms', 'CPU'],
    [
      `${COUNT.format(turns)} turns x ${rate} rows/s`,
      COUNT.format(followed.events),
      COUNT.format(appended.statements),
      appended.statementP99.toFixed(0),
      followed.p50.toFixed(0),
      followed.p99.toFixed(0),
      followed.most.toFixed(0),
      `Postgres ${percent(cores.postgres)}, appending ${percent(cores.appending)}, reading ${percent(cores.reading)} of a processor; WAL ${(live.walBytesPerSecond / 1e6).toFixed(1)} MB/s`,
    ],
  ]);
}

export function formatQueues(queues: QueueDelays): string {
  return formatTable([
    ['from accepted to the first event', 'turns', 'p50 ms', 'p99 ms', 'most ms'],
    ...Object.entries(queues).map(([queue, delays]) => [
      queue,
      String(delays.length),
      ...[0.5, 0.99, 1].map((part) => atPart(delays, part).toFixed(1)),
    ]),
  ]);
}

export function scaleGoals({ appends, live, queues }: ScaleResult): readonly Goal[] {
  const ratio = (of: keyof AppendRate, one: MeasuredCase, other: MeasuredCase): Spread =>
    spreadOf(one.rates.map((rate, run) => rate[of] / (other.rates[run]?.[of] ?? Number.NaN)));
  const caseOf = (schema: Schema, group: number): MeasuredCase => {
    const found = appends.find((each) => each.schema === schema && each.group === group);
    if (found === undefined) throw new Error(`Not measured: ${schema}, ${group}`);
    return found;
  };
  const cpu = ratio('cpuMicroseconds', caseOf('as it is', GROUP), caseOf('as it is', 1)).median;
  const wal = ratio('walBytes', caseOf('as it is', GROUP), caseOf('the first', GROUP)).median;
  const { appended, followed } = live;
  const lost = appended.events - followed.events + followed.unordered;
  const added = atPart(queues['pg-boss'], 0.99) - atPart(queues['in-process'], 0.99);
  return [
    {
      name: `CPU of Postgres a row, groups of ${GROUP} turns beside one statement a turn`,
      wanted: `at most ${CPU_SHARE} x`,
      measured: `${cpu.toFixed(3)} x`,
      met: cpu <= CPU_SHARE,
    },
    {
      name: `WAL a row, beside rows of the first schema in groups of ${GROUP}`,
      wanted: `at most ${WAL_SHARE.toFixed(2)} x`,
      measured: `${wal.toFixed(2)} x`,
      met: wal <= WAL_SHARE,
    },
    {
      name: `${COUNT.format(live.turns)} turns x ${live.rate} rows/s, to a reader in another process, p99`,
      wanted: `at most ${LIVE_P99_MS} ms, none lost`,
      measured: `${followed.p99.toFixed(0)} ms, ${lost} lost or out of order`,
      met: followed.p99 <= LIVE_P99_MS && lost === 0,
    },
    {
      name: 'what pg-boss adds to the time until the first event, p99',
      wanted: `at most ${QUEUE_P99_MS} ms`,
      measured: `${added.toFixed(0)} ms`,
      met: added <= QUEUE_P99_MS,
    },
  ];
}

function spread(
  rates: readonly AppendRate[],
  of: keyof AppendRate,
  format: (value: number) => string,
): string {
  return formatSpread(spreadOf(rates.map((rate) => rate[of])), format);
}

/** Of values in order. */
export function atPart(values: readonly number[], part: number): number {
  const index = Math.min(values.length - 1, Math.floor(values.length * part));
  return values[index] ?? Number.NaN;
}

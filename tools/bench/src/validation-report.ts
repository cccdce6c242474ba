import { formatTable } from '@orion/common';

import type { Goal } from './goals.ts';
import { formatSpread, spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';
import type { MemoryResult } from './validation-memory.ts';
import type { WriteTimes } from './validation-time.ts';

const LARGEST_RATIO = 1.15;
/** Two runs of the same program differ by that much. */
const FLAT_MIB = 24;
const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function formatTimes(results: readonly WriteTimes[]): string {
  return formatTable([
    ['text', 'MB', 'without, ms', 'with, ms', 'ratio of neighbours'],
    ...results.map((result) => [
      result.text,
      (result.bytes / 1_000_000).toFixed(1),
      formatSpread(spreadOf(result.withoutMs), 1),
      formatSpread(spreadOf(result.withMs), 1),
      formatSpread(ratiosOf(result), 3),
    ]),
  ]);
}

export function formatMemory(results: readonly MemoryResult[]): string {
  return formatTable([
    ['text', 'MiB', 'invalid places', 'peak, MiB', 'finalize, ms'],
    ...results.map((result) => [
      result.text,
      String(result.mebibytes),
      COUNT.format(result.invalid),
      result.peakMiB.toFixed(0),
      result.finalizeMs.toFixed(0),
    ]),
  ]);
}

export function validationGoals(
  times: readonly WriteTimes[],
  memory: readonly MemoryResult[],
): readonly Goal[] {
  const byText = Map.groupBy(memory, ({ text }) => text);
  return [
    ...times.map((result): Goal => {
      const ratio = ratiosOf(result).median;
      return {
        name: `${result.text}: validation, in the time of the write`,
        wanted: `at most ${LARGEST_RATIO} x`,
        measured: `${ratio.toFixed(3)} x`,
        met: ratio <= LARGEST_RATIO,
      };
    }),
    ...[...byText].map(([text, results]): Goal => {
      const peaks = results.map(({ peakMiB }) => peakMiB);
      const growth = (peaks.at(-1) ?? 0) - (peaks[0] ?? 0);
      return {
        name: `${text}: peak memory of the largest text over the smallest`,
        wanted: `at most +${FLAT_MIB} MiB`,
        measured: `${growth >= 0 ? '+' : ''}${growth.toFixed(0)} MiB`,
        met: growth <= FLAT_MIB,
      };
    }),
  ];
}

function ratiosOf({ withMs, withoutMs }: WriteTimes): Spread {
  return spreadOf(withMs.map((time, run) => time / (withoutMs[run] ?? Number.NaN)));
}

import type { SizeResult } from './compare-sizes.ts';
import type { StartResult } from './compare-start.ts';

export type BenchResult = {
  readonly start: StartResult;
  readonly sizes: readonly SizeResult[];
  /** The largest size again, in pieces of one event. */
  readonly eventByEvent: SizeResult;
};

export type Goal = {
  readonly name: string;
  readonly wanted: string;
  readonly measured: string;
  readonly met: boolean;
};

const LARGEST_RATIO = 2;
const LARGEST_PEAK_MIB = 140;
/** Two runs of the same program differ by that much. */
const FLAT_MIB = 16;
const SENTENCE_MS = 150;
const VERSION_MS = 25;
const REQUEST_BYTES = 4096;

/** What was promised beside what was measured; only goals whose sizes were run. */
export function goalsOf({ start, sizes, eventByEvent }: BenchResult): readonly Goal[] {
  const of = (lines: number): SizeResult | undefined => sizes.find((size) => size.lines === lines);
  const goals: Goal[] = [];
  const small = of(2_000);
  const large = of(100_000);
  if (large !== undefined) {
    goals.push(ratioGoal('100,000 lines in bulk, wall time', large.wallRatio.median));
  }
  if (eventByEvent.lines === 100_000) {
    const { wallRatio, cpuRatio } = eventByEvent;
    goals.push(
      ratioGoal('100,000 lines event by event, wall time', wallRatio.median),
      // The server takes longer than either reader here, which the processor's time does not hide.
      ratioGoal('100,000 lines event by event, CPU', cpuRatio.median),
    );
  }
  const peak = Math.max(...[...sizes, eventByEvent].map(({ orion }) => orion.peakMiB.median));
  goals.push({
    name: 'peak memory',
    wanted: `at most ${LARGEST_PEAK_MIB} MB`,
    measured: `${peak.toFixed(0)} MB`,
    met: peak <= LARGEST_PEAK_MIB,
  });
  if (small !== undefined && large !== undefined) {
    const growth = large.orion.peakMiB.median - small.orion.peakMiB.median;
    goals.push({
      name: 'peak memory from 2,000 to 100,000 lines',
      wanted: `flat (within ${FLAT_MIB} MB)`,
      measured: `${growth >= 0 ? '+' : ''}${growth.toFixed(0)} MB`,
      met: growth <= FLAT_MIB,
    });
  }
  goals.push(
    timeGoal('one-sentence turn, over `node -e 0`', SENTENCE_MS, start.sentenceOverMs.median),
    timeGoal('`orion --version`, over `node -e 0`', VERSION_MS, start.versionOverMs.median),
  );
  if (small !== undefined) {
    const growth = small.requestGrowth.sinceContent;
    goals.push({
      name: 'request after a 2,000-line file, over the one before',
      wanted: `at most ${REQUEST_BYTES} bytes`,
      measured: `${growth >= 0 ? '+' : ''}${growth} bytes (over the first: +${small.requestGrowth.sinceFirst})`,
      met: Math.max(growth, small.requestGrowth.sinceFirst) <= REQUEST_BYTES,
    });
  }
  return goals;
}

function ratioGoal(name: string, measured: number): Goal {
  return {
    name: `${name}, beside the bare reader`,
    wanted: `at most ${LARGEST_RATIO} x`,
    measured: `${measured.toFixed(2)} x`,
    met: measured <= LARGEST_RATIO,
  };
}

function timeGoal(name: string, limit: number, measured: number): Goal {
  return {
    name,
    wanted: `at most ${limit} ms`,
    measured: `${measured.toFixed(0)} ms`,
    met: measured <= limit,
  };
}

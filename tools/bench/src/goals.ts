import type { SizeResult } from './compare-sizes.ts';
import type { StartResult } from './compare-start.ts';

export type BenchResult = {
  readonly start: StartResult;
  readonly sizes: readonly SizeResult[];
  /** The same sizes, each event in a piece of its own, as providers send them. */
  readonly eventByEvent: readonly SizeResult[];
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
  const goals: Goal[] = [
    ...streamGoals('in bulk', sizes),
    ...streamGoals('event by event', eventByEvent),
  ];
  const small = sizeOf(sizes, 2_000);
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

function sizeOf(sizes: readonly SizeResult[], lines: number): SizeResult | undefined {
  return sizes.find((size) => size.lines === lines);
}

function streamGoals(stream: string, sizes: readonly SizeResult[]): readonly Goal[] {
  const goals: Goal[] = [];
  const small = sizeOf(sizes, 2_000);
  const large = sizeOf(sizes, 100_000);
  if (large !== undefined) {
    goals.push(
      ratioGoal(`100,000 lines ${stream}, wall time`, large.wallRatio.median),
      // Where the server takes longer than either reader, the wall time hides what the processor's does not.
      ratioGoal(`100,000 lines ${stream}, CPU`, large.cpuRatio.median),
    );
  }
  const peak = Math.max(...sizes.map(({ orion }) => orion.peakMiB.median));
  goals.push({
    name: `peak memory, ${stream}`,
    wanted: `at most ${LARGEST_PEAK_MIB} MB`,
    measured: `${peak.toFixed(0)} MB`,
    met: peak <= LARGEST_PEAK_MIB,
  });
  if (small !== undefined && large !== undefined) {
    const growth = large.orion.peakMiB.median - small.orion.peakMiB.median;
    goals.push({
      name: `peak memory from 2,000 to 100,000 lines, ${stream}`,
      wanted: `flat (within ${FLAT_MIB} MB)`,
      measured: `${growth >= 0 ? '+' : ''}${growth.toFixed(0)} MB`,
      met: growth <= FLAT_MIB,
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

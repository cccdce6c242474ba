import { dirname } from 'node:path';

import { shareOut } from '@orion/common';

import type { Isolation } from './isolation.ts';
import { Lane } from './lane.ts';
import type { Noticed } from './lane.ts';
import type { Mutant } from './mutants.ts';
import type { Survey } from './survey.ts';

export type Outcome = {
  readonly mutant: Mutant;
  /** What noticed it; null for a survivor. */
  readonly noticedBy: string | null;
  /** How many test files reach it. */
  readonly tests: number;
  readonly ms: number;
};

/** For a test file: a machine that is busy is slower than at the survey. */
const LIMIT_MS = 20_000;
const LIMIT_FACTOR = 5;

export type RunOptions = {
  readonly root: string;
  readonly mutants: readonly Mutant[];
  readonly survey: Survey;
  readonly lanes: number;
  readonly isolation: Isolation | null;
  readonly onOutcome: (outcome: Outcome) => void;
};

/** Each mutant against the tests that reach it, several at the same time; outcomes in the order of the mutants. */
export async function runMutants(options: RunOptions): Promise<readonly Outcome[]> {
  const { root, mutants, survey, onOutcome } = options;
  const outcomes: Outcome[] = [];
  const lanes = Array.from({ length: options.lanes }, () => new Lane(root, options.isolation));
  const endLanes = async (): Promise<void> => {
    await Promise.all(lanes.map(async (lane) => lane.end()));
  };
  const interrupted = (): void => {
    void endLanes().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    await shareOut(lanes, mutants, async (mutant, lane, at) => {
      const outcome = await judge(mutant, survey, lane);
      outcomes[at] = outcome;
      onOutcome(outcome);
    });
    return outcomes;
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await endLanes();
  }
}

async function judge(mutant: Mutant, survey: Survey, lane: Lane): Promise<Outcome> {
  const began = performance.now();
  const reaching = testsThatReach(mutant, survey);
  const limits = reaching.map(({ ms }) => LIMIT_MS + LIMIT_FACTOR * ms);
  const tests = reaching.map(({ test }) => test);
  const noticed: Noticed =
    tests.length === 0 ? { failure: null } : await lane.run({ mutant, tests }, limits);
  return {
    mutant,
    noticedBy: noticed === 'over time' ? 'over time' : noticed.failure,
    tests: tests.length,
    ms: performance.now() - began,
  };
}

/** Those that lie beside the file first, since they are about it, then the quick ones. */
export function testsThatReach(mutant: Mutant, { tests }: Survey): Survey['tests'] {
  const probe = `${mutant.file}#${mutant.probe}`;
  const far = (test: string): number => Number(dirname(test) !== dirname(mutant.file));
  return tests
    .filter(({ reached }) => reached.includes(probe))
    .toSorted((one, other) => far(one.test) - far(other.test) || one.ms - other.ms);
}

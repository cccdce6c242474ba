/** Makes every call of every scenario fail once, with every error, in this process; `changes/judge.ts` judges. */
import { OrionError } from '@orion/contracts';
import { CHANGING_CALLS } from '@orion/testkit/disk-faults';
import type {
  DiskCall,
  DiskErrorCode,
  DiskFault,
  DiskInterception,
} from '@orion/testkit/disk-faults';

import { checkFiles, checkNextStart, playEarlier } from '../changes/judge.ts';
import { makePlace } from '../changes/place.ts';
import type { Place } from '../changes/place.ts';
import type { Scenario } from '../changes/scenarios.ts';

export type FaultPlan = {
  readonly scenario: Scenario;
  /** The call of the scenario that fails, counted from 0. */
  readonly at: number;
  readonly fault: DiskFault;
  /** All later calls fail, too. */
  readonly lasting: boolean;
};

export type FaultOutcome = {
  readonly plan: FaultPlan;
  /** The call that the fault struck; null: it reached nothing. */
  readonly struck: DiskCall | null;
  readonly reported: 'success' | 'error';
  readonly failures: readonly string[];
};

const CODES: readonly DiskErrorCode[] = [
  'ENOSPC',
  'EIO',
  'EDQUOT',
  'EMFILE',
  'EROFS',
  'EPERM',
  'EXDEV',
];

/** Every call that a scenario makes, and the faults that it can meet. */
export async function planFaults(
  disk: DiskInterception,
  scenario: Scenario,
): Promise<readonly FaultPlan[]> {
  const calls = await recordCalls(disk, scenario);
  return calls.flatMap((call, at) => {
    const faults: readonly DiskFault[] = CHANGING_CALLS.has(call.name)
      ? CODES.map((code) => ({ kind: 'error', code }))
      : [{ kind: 'error', code: 'EIO' }];
    const short: readonly DiskFault[] = call.name === 'write' ? [{ kind: 'short', bytes: 1 }] : [];
    return [
      ...[...faults, ...short].map((fault) => ({ scenario, at, fault, lasting: false })),
      { scenario, at, fault: { kind: 'error', code: 'EIO' } as const, lasting: true },
    ];
  });
}

async function recordCalls(
  disk: DiskInterception,
  scenario: Scenario,
): Promise<readonly DiskCall[]> {
  const place = makePlace(scenario.initial);
  const calls: DiskCall[] = [];
  try {
    await playEarlier(place, scenario);
    const workspace = await place.open();
    disk.use((call) => {
      if (isOf(place, call)) calls.push(call);
      return null;
    });
    await scenario.run(workspace);
    disk.use(null);
    await workspace.close();
    return calls;
  } finally {
    disk.use(null);
    place.remove();
  }
}

export async function runFault(disk: DiskInterception, plan: FaultPlan): Promise<FaultOutcome> {
  const { scenario } = plan;
  const place = makePlace(scenario.initial);
  const failures: string[] = [];
  try {
    await playEarlier(place, scenario);
    const workspace = await place.open();
    const struck: DiskCall[] = [];
    let count = 0;
    disk.use((call) => {
      if (!isOf(place, call)) return null;
      const strikes = plan.lasting ? count >= plan.at : count === plan.at;
      count += 1;
      if (strikes) struck.push(call);
      return strikes ? plan.fault : null;
    });
    const reported = await attempt(workspace, scenario, failures);
    await workspace.close().catch((error: unknown) => failures.push(`close: ${String(error)}`));
    disk.use(null);
    if (struck.length === 0) failures.push('the fault reached nothing');
    checkFiles(place, scenario, reported, failures);
    await checkNextStart(place, scenario, reported, failures);
    return {
      plan,
      struck: struck[0] ?? null,
      reported: reported === null ? 'success' : 'error',
      failures,
    };
  } finally {
    disk.use(null);
    place.remove();
  }
}

/** Calls on anything else, such as the programs that Node itself looks for, are not the scenario's. */
function isOf(place: Place, call: DiskCall): boolean {
  return call.path.startsWith(place.root);
}

/** Null: success. */
async function attempt(
  workspace: Awaited<ReturnType<Place['open']>>,
  scenario: Scenario,
  failures: string[],
): Promise<OrionError | null> {
  try {
    await scenario.run(workspace);
    return null;
  } catch (error) {
    if (OrionError.isInstance(error)) return error;
    failures.push(`it failed with ${error instanceof Error ? error.stack : String(error)}`);
    return new OrionError({ code: 'INTERNAL_ERROR', message: String(error) });
  }
}

import { interceptDisk } from '@orion/testkit/disk-faults';

import { SCENARIOS } from '../changes/scenarios.ts';
import { forkModule } from '../processes.ts';
import { planFaults, runFault } from './in-process.ts';
import type { FaultOutcome } from './in-process.ts';

/** Which faults a run covers. */
export type Selection = {
  /** Scenarios whose name contains this. */
  readonly only: string;
  /** Only this call of them. */
  readonly at: number | null;
  /** Only every nth fault. */
  readonly every: number;
};

export type LaneRequest = Selection & { readonly lane: number; readonly lanes: number };

/** What came of one fault. */
export type FaultReport = {
  readonly scenario: string;
  /** The name of the call that it struck; null: it reached nothing. */
  readonly struck: string | null;
  readonly gotOver: boolean;
  readonly failures: readonly string[];
  readonly description: string;
};

/** A process for each lane: the disk is intercepted for a whole process. */
export async function runLanes(
  lanes: number,
  selection: Selection,
  onReport: (report: FaultReport) => void,
): Promise<void> {
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const child = forkModule(new URL('./lane-process.ts', import.meta.url));
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      child.on('message', (message) => onReport(message as FaultReport));
      const request: LaneRequest = { ...selection, lane, lanes };
      child.send(request);
      const code = await ended;
      if (code !== 0) throw new Error(`a lane ended with ${code}`);
    }),
  );
}

export async function runLane(
  request: LaneRequest,
  report: (done: FaultReport) => void,
): Promise<void> {
  const disk = await interceptDisk();
  let turn = 0;
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(request.only))) {
    for (const plan of await planFaults(disk, scenario)) {
      if (request.at !== null && plan.at !== request.at) continue;
      turn += 1;
      if (turn % request.every !== 0) continue;
      if ((turn / request.every) % request.lanes !== request.lane) continue;
      const outcome = await runFault(disk, plan);
      report({
        scenario: scenario.name,
        struck: outcome.struck?.name ?? null,
        gotOver: outcome.reported === 'success',
        failures: outcome.failures,
        description: describePlan(outcome),
      });
    }
  }
  disk.restore();
}

/** Which fault it was, and the command that repeats it. */
function describePlan({ plan, struck }: FaultOutcome): string {
  const { scenario, at, fault, lasting } = plan;
  const what = fault.kind === 'error' ? fault.code : fault.kind;
  const where = struck === null ? 'nothing' : `${struck.name} ${struck.path}`;
  return (
    `${scenario.name}: call ${at} (${where}): ${what}${lasting ? ', lasting' : ''}\n` +
    `  again: npm run faults -- --only '${scenario.name}' --at ${at}`
  );
}

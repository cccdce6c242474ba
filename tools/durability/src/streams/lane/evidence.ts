import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Loss } from '../measure/loss.ts';
import type { Sample } from '../measure/samples.ts';
import type { KillPlan } from '../plan.ts';
import type { Ended } from '../stage/command.ts';

export type Evidence = {
  readonly plan: KillPlan;
  readonly document: string;
  readonly loss: Loss | null;
  readonly commands: readonly Ended[];
  readonly failures: readonly string[];
  readonly samples: readonly Sample[];
};

/** Saves what it takes to understand a failed kill beside its workspace. */
export async function keepEvidence(folder: string, evidence: Evidence): Promise<void> {
  const { document, commands, plan, ...rest } = evidence;
  const { shape, ...planned } = plan;
  await writeFile(join(folder, 'document.txt'), document);
  await writeFile(
    join(folder, 'failure.json'),
    JSON.stringify({ ...planned, shape: shape.name, ...rest }, null, 2),
  );
  for (const [index, { stdout, stderr }] of commands.entries()) {
    await writeFile(join(folder, `command-${index + 1}.log`), `${stdout}\n${stderr}`);
  }
}

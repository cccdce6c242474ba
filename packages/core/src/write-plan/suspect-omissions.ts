import { OrionError } from '@orion/contracts';
import type { ByteSource, Workspace } from '@orion/contracts';

import { excusedBy, findOmissionsBut } from '../validation/omissions.ts';
import type { Omission } from '../validation/omissions.ts';
import { sourceOf } from './new-text.ts';
import type { ParsedOperation } from './parse-plan.ts';
import type { PlannedChange } from './plan-changes.ts';

type ReadTarget = Pick<Workspace, 'readTarget'>;

/**
 * Lines of new text, counted from 1, that seem to stand for omitted text although they replace other text; by the index
 * of their operation (R249). Each file is read once, however many operations it has.
 */
export async function omissionsIn(
  operations: readonly ParsedOperation[],
  changes: readonly PlannedChange[],
  workspace: ReadTarget,
): Promise<ReadonlyMap<number, readonly number[]>> {
  const found = new Map<number, readonly number[]>();
  for (const { expected, operations: indexes } of changes) {
    if (!expected.exists) continue;
    let excused: ReturnType<typeof excusedBy> | null = null;
    const excusedLines = () => (excused ??= excusedBy(() => workspace.readTarget(expected)));
    for (const index of indexes) {
      const parsed = operations[index];
      if (parsed?.kind !== 'operation') continue;
      const { type, content } = parsed.operation;
      if (type !== 'overwrite' && type !== 'replace') continue;
      const omissions = await suspectedOmissions(sourceOf(content), excusedLines);
      if (omissions.length === 0) continue;
      found.set(
        index,
        omissions.map(({ line }) => line),
      );
    }
  }
  return found;
}

/** Nothing if the text or the target cannot be read: the commit reports that, with its own code. */
export async function suspectedOmissions(
  text: ByteSource,
  excusedLines: () => Promise<ReadonlySet<string>>,
): Promise<readonly Omission[]> {
  try {
    return await findOmissionsBut(text, excusedLines);
  } catch (error) {
    if (OrionError.isInstance(error)) return [];
    throw error;
  }
}

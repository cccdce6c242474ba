import { OrionError } from '@orion/contracts';
import type { Workspace, WritePlanOperation } from '@orion/contracts';

import { findOmissions } from '../validation/omissions.ts';
import { sourceOf } from './new-text.ts';
import type { PlannedChange } from './plan-changes.ts';

/** The lines of its text, counted from 1, that speak of left-out text, where it takes the place of other text. */
export async function suspectOmissions(
  operation: WritePlanOperation,
  { expected }: PlannedChange,
  workspace: Pick<Workspace, 'readTarget'>,
): Promise<readonly number[]> {
  if (!expected.exists || (operation.type !== 'overwrite' && operation.type !== 'replace'))
    return [];
  try {
    const text = sourceOf(operation.content);
    const omissions = await findOmissions(text, () => workspace.readTarget(expected));
    return omissions.map(({ line }) => line);
  } catch (error) {
    // What cannot be read is told by the commit, with its own code.
    if (OrionError.isInstance(error)) return [];
    throw error;
  }
}

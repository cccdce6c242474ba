import { OrionError } from '@orion/contracts';
import type { Workspace, WritePlanOperation } from '@orion/contracts';

import { excusedBy, findOmissionsBut } from '../validation/omissions.ts';
import { sourceOf } from './new-text.ts';
import type { PlannedChange } from './plan-changes.ts';

/** The lines of its text, counted from 1, that speak of left-out text, where it takes the place of other text. */
export type SuspectOmissions = (operation: WritePlanOperation) => Promise<readonly number[]>;

/** For the operations of one change: however many they are, the file is looked through once. */
export function omissionSuspicion(
  { expected }: PlannedChange,
  workspace: Pick<Workspace, 'readTarget'>,
): SuspectOmissions {
  let excused: Promise<ReadonlySet<string>> | null = null;
  const excusedLines = (): Promise<ReadonlySet<string>> => {
    excused ??= excusedBy(() => workspace.readTarget(expected));
    return excused;
  };
  return async (operation) => {
    const replaces = operation.type === 'overwrite' || operation.type === 'replace';
    if (!expected.exists || !replaces) return [];
    try {
      const omissions = await findOmissionsBut(sourceOf(operation.content), excusedLines);
      return omissions.map(({ line }) => line);
    } catch (error) {
      // What cannot be read is told by the commit, with its own code.
      if (OrionError.isInstance(error)) return [];
      throw error;
    }
  };
}

import type { SessionMetadata, Workspace } from '@orion/contracts';
import type { FinalizeFacts } from '@orion/core';

/**
 * The target of a session as it is now, once a person has agreed to change that. What is added to a file, or changed in
 * it, goes into the file as it is now.
 */
export async function targetNow(
  workspace: Pick<Workspace, 'checkTarget'>,
  { target_file, operation }: Pick<SessionMetadata, 'target_file' | 'operation'>,
): Promise<NonNullable<FinalizeFacts['target']>> {
  const agreed = operation === 'create' ? 'overwrite' : operation;
  return { operation: agreed, expected: await workspace.checkTarget(target_file, agreed) };
}

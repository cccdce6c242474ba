import { join } from 'node:path';

import type { ProjectInstructions, RefusedFile, Workspace } from '@orion/contracts';
import { readUserInstructions } from '@orion/workspace';

/** The most bytes of one file of instructions that a model reads. */
export const MAX_INSTRUCTION_BYTES: number = 32 * 1024;

/** What a model is told to follow in every turn. */
export type Instructions = ProjectInstructions & {
  /** Those of a user are for every workspace. */
  readonly origin: 'user' | 'workspace';
};

export type AllInstructions = {
  /** The user's come first: those of a project are closer to its work. */
  readonly found: readonly Instructions[];
  readonly refused: readonly RefusedFile[];
};

/** An unusable file is left out, and named in `refused`. */
export async function readAllInstructions(
  workspace: Pick<Workspace, 'readInstructions'>,
  userDirectory: string | undefined,
): Promise<AllInstructions> {
  const own =
    userDirectory === undefined
      ? null
      : await readUserInstructions(userDirectory, MAX_INSTRUCTION_BYTES);
  const project = await workspace.readInstructions(MAX_INSTRUCTION_BYTES);
  const found: Instructions[] = [];
  if (own?.instructions) found.push({ ...own.instructions, origin: 'user' });
  if (project.instructions !== null) found.push({ ...project.instructions, origin: 'workspace' });
  const ownRefused = (own?.refused ?? []).map(({ path, reason }) => ({
    path: join(userDirectory ?? '', path),
    reason,
  }));
  return { found, refused: [...ownRefused, ...project.refused] };
}

import type { Mode, RefusedFile } from '@orion/contracts';

import type { TurnDependencies } from '../turn/turn-scope.ts';
import type { SystemPromptFacts } from './system-prompt.ts';

/** What a turn that begins now says of the workspace; `refused` could not be used. */
export async function systemPromptFacts(
  {
    workspace,
    settings,
    readInstructions,
  }: Pick<TurnDependencies, 'workspace' | 'settings' | 'readInstructions'>,
  mode: Mode,
): Promise<{ readonly facts: SystemPromptFacts; readonly refused: readonly RefusedFile[] }> {
  const listed = await workspace.listFiles(Number.MAX_SAFE_INTEGER);
  const { found: instructions, refused } = await readInstructions();
  const { files, truncated: filesTruncated } = listed;
  const { strict } = settings;
  return {
    facts: { mode, strict, files, filesTruncated, instructions },
    refused: [...listed.refused, ...refused],
  };
}

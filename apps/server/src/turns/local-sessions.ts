import { OrionError } from '@orion/contracts';

import type { Projects } from '../projects.ts';

/**
 * Throws CONFIG_INVALID for session directories of another machine: a look-up there may be cached for longer than it
 * takes until another process has the turn.
 */
export async function requireLocalSessions({
  all,
}: {
  readonly all: readonly Pick<
    Projects['all'][number],
    'sharesSessions' | 'serverFiles' | 'stateDirectory'
  >[];
}): Promise<void> {
  for (const { sharesSessions, serverFiles, stateDirectory } of all) {
    const found = sharesSessions ? null : await serverFiles.networkFileSystem();
    if (found === null) continue;
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: `${stateDirectory} is on a network file system (${found}), where servers see each other's write sessions too late.`,
      hint: 'Set ORION_SESSIONS=database, or ORION_STATE_DIR to a folder of this machine.',
      details: { path: stateDirectory, file_system: found },
    });
  }
}

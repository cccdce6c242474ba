import type { Orion } from '@orion/agent';
import type { Clock } from '@orion/contracts';

import { EMBEDDED_PAGE } from './embedded-page.ts';
import { createPageFiles } from './page-files.ts';
import type { PageFiles } from './page-files.ts';
import { PageSessions } from './page-sessions.ts';

/** What the server has for people who look at it in a browser. */
export type Page = {
  readonly files: PageFiles;
  readonly sessions: PageSessions;
  /** The path of a new log-in link. */
  readonly linkPath: () => string;
};

/** Rejects with disk errors of the state directory. */
export async function openPage({
  orion: { serverFiles },
  token,
  clock,
  basePath,
}: {
  readonly orion: Orion;
  readonly token: string;
  readonly clock: Clock;
  readonly basePath: string;
}): Promise<Page> {
  const sessions = new PageSessions({
    token,
    clock,
    access: await serverFiles.readPageAccess(),
    read: () => serverFiles.readPageAccess(),
    update: (change) => serverFiles.updatePageAccess(change),
  });
  return {
    files: createPageFiles(EMBEDDED_PAGE, basePath),
    sessions,
    linkPath: () => `${basePath}/connect#${sessions.makeCode()}`,
  };
}

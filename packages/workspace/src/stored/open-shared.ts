/** The parts of a workspace whose state is shared by processes of several hosts. */
import type { Clock, WorkspaceServerFiles } from '@orion/contracts';
import { sharedPageAccess } from '../server-files.ts';
import type { SessionStoreOptions } from '../session-dir/session-store-options.ts';
import { SharedBackups } from './shared-backups.ts';
import type { SharedState } from './shared-state.ts';
import { StoredSessionStore } from './stored-session-store.ts';

export type SharedParts = {
  readonly backups: SharedBackups;
  readonly pageAccess: Pick<WorkspaceServerFiles, 'readPageAccess' | 'updatePageAccess'>;
  openSessions(options: SessionStoreOptions): StoredSessionStore;
};

export function openShared(
  { sessions, records }: SharedState,
  { root, clock }: { readonly root: string; readonly clock: Clock },
): SharedParts {
  return {
    backups: new SharedBackups({
      records,
      root,
      clock,
      isOpen: async (sessionId) => (await sessions().find(root, sessionId)) !== null,
    }),
    pageAccess: sharedPageAccess(records, root),
    openSessions: (options) => new StoredSessionStore({ ...options, content: sessions }),
  };
}

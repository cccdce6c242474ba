import type { WorkspaceCommits } from './commits.ts';
import type { WorkspaceFiles } from './files.ts';
import type { WorkspaceScratchFiles } from './scratch-files.ts';
import type { WorkspacePlans } from './plans.ts';
import type { SessionStore } from './sessions.ts';
import type { WorkspaceUndo } from './undo.ts';

/**
 * The workspace on disk: the only door through which files are read, listed and changed.
 *
 * Every path is resolved and contained in `root`. Methods reject with an `OrionError` for whatever a user or a
 * model can cause; anything else is a defect.
 */
export interface Workspace
  extends WorkspaceFiles, WorkspaceCommits, WorkspacePlans, WorkspaceUndo, WorkspaceScratchFiles {
  /** Absolute, resolved. */
  readonly root: string;
  /** Where sessions, locks, backups and the attic live; `.orion` under the root unless moved. */
  readonly stateDirectory: string;
  /** Makes it, for whoever keeps something of its own there. Rejects as a write to the disk does. */
  ensureStateDirectory(): Promise<void>;
  readonly sessions: SessionStore;
  close(): Promise<void>;
}

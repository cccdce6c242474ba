import type { WorkspaceCommits } from './commits.ts';
import type { WorkspaceFiles } from './files.ts';
import type { WorkspaceScratchFiles } from './scratch-files.ts';
import type { WorkspacePlans } from './plans.ts';
import type { WorkspaceServerFiles } from './server-files.ts';
import type { SessionStore } from './sessions.ts';
import type { WorkspaceTextLists } from './text-lists.ts';
import type { WorkspaceUndo } from './undo.ts';

/**
 * The workspace on disk. All files are read, listed and changed through it.
 *
 * Every path is resolved and must be inside `root`. Methods reject with an `OrionError` for anything that a user or a
 * model can cause; any other error is a defect.
 */
export interface Workspace
  extends
    WorkspaceFiles,
    WorkspaceCommits,
    WorkspacePlans,
    WorkspaceUndo,
    WorkspaceScratchFiles,
    WorkspaceServerFiles,
    WorkspaceTextLists {
  /** Absolute, resolved. */
  readonly root: string;
  /** The directory of sessions, locks, backups and the attic: `.orion` under the root unless configured. */
  readonly stateDirectory: string;
  /** Creates the state directory for callers that store something in it. Rejects like a write to the disk. */
  ensureStateDirectory(): Promise<void>;
  readonly sessions: SessionStore;
  close(): Promise<void>;
}

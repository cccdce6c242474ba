import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OrionError } from '@orion/contracts';
import type { Clock, ProtectedPaths, Workspace } from '@orion/contracts';
import { BackupStore } from './commit/backup-store.ts';
import type { Committer } from './commit/commit-site.ts';
import { commitFile, prepareCommit } from './commit/prepare-commit.ts';
import { readTarget } from './commit/read-target.ts';
import { TemporaryNotes } from './commit/temporary-notes.ts';
import { onDisk } from './disk/disk-error.ts';
import { createProcessObserver } from './ownership/process-identity.ts';
import type { ProcessIdentity } from './ownership/process-identity.ts';
import type { LockTarget } from './ownership/target-locks.ts';
import { listProtected } from './path-policy/list-protected.ts';
import { shown } from './path-policy/parse-target.ts';
import { PathPolicy } from './path-policy/path-policy.ts';
import type { ConfirmProtectedPath } from './path-policy/path-policy.ts';
import { commitPlan } from './plan/commit-plan.ts';
import { PlanJournals } from './plan/plan-journal.ts';
import { listFiles } from './reading/list-files.ts';
import { readInstructions } from './reading/read-instructions.ts';
import { readWorkspaceText } from './reading/read-text.ts';
import { searchFiles } from './reading/search-files.ts';
import { ScratchFiles } from './scratch-files.ts';
import { createServerFiles } from './server-files.ts';
import { SetAside } from './set-aside.ts';
import type { EventSink, SessionStoreOptions } from './session-dir/session-store-options.ts';
import { loadSessionKey } from './session-dir/session-key.ts';
import type { SessionKey } from './session-dir/session-key.ts';
import { DiskSessionStore } from './session-dir/session-store.ts';
import type { SharedParts } from './stored/open-shared.ts';
import type { SharedState } from './stored/shared-state.ts';
import { resolveChosenDirectory, StateDirectory } from './state-directory.ts';
import { createTextList } from './text-lists.ts';
import { madeChanges } from './undo/made-changes.ts';
import { fileVersion } from './undo/file-version.ts';
import { backupForeign, undoChange } from './undo/undo-change.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MIB = 1024 * 1024;

/** Every setting has a default; `DEFAULT_WORKSPACE_SETTINGS` names them. */
export type WorkspaceSettings = {
  /** From this age on an orphan goes to the attic instead of being offered for recovery. */
  readonly maxSessionAgeMs: number;
  /** Globs of protected paths that may be written, relative to the root. */
  readonly allowPaths: readonly string[];
  readonly allowHardLink: boolean;
  /** A larger file is not changed: it would be read, copied and hashed as a whole. */
  readonly maxTargetBytes: number;
  /** Whether a person can be asked. `package.json` and lockfiles then need confirmation, too. */
  readonly interactive: boolean;
  readonly atticMaxAgeMs: number;
  readonly atticMaxBytes: number;
  readonly backupsMaxAgeMs: number;
  readonly backupsMaxBytes: number;
};

export const DEFAULT_WORKSPACE_SETTINGS: WorkspaceSettings = {
  maxSessionAgeMs: 60 * 60 * 1000,
  allowPaths: [],
  allowHardLink: false,
  maxTargetBytes: 1024 * MIB,
  interactive: false,
  atticMaxAgeMs: 30 * DAY_MS,
  atticMaxBytes: 512 * MIB,
  backupsMaxAgeMs: 30 * DAY_MS,
  backupsMaxBytes: 512 * MIB,
};

/**
 * An event for the trace: `cleaned`, `degraded`, `restored`, `lease_lost`, `attic_dropped` or `housekeeping_failed`.
 * Never contains content. Must not throw.
 */
export type WorkspaceEventSink = EventSink;

export type WorkspaceOptions = {
  readonly root: string;
  /** Instead of `.orion` under the root. */
  readonly stateDirectory?: string;
  readonly clock: Clock;
  /** Without it, all of a workspace's state is in its state directory. */
  readonly shared?: SharedState;
  readonly settings?: Partial<WorkspaceSettings>;
  /**
   * The directory of this user's key, which proves that a session or backup is the user's own. Without a directory,
   * nothing counts as foreign and nothing is undone unasked. Where no key can be stored, everything that an earlier
   * process made counts as foreign.
   */
  readonly userKeyDirectory?: string;
  readonly onEvent?: WorkspaceEventSink;
  /** Asks a person about a protected path that `allowPaths` does not list. Without it, the write is refused. */
  readonly confirmProtectedPath?: ConfirmProtectedPath;
  /** The identity of this process. Tests replace it to act as another host. */
  readonly identity?: () => Promise<ProcessIdentity>;
  /** The current time of the directory's file system. Tests replace it to let time pass. */
  readonly fileSystemNow?: (directory: string) => Promise<number>;
};

/**
 * Opens a workspace. Nothing is written until there is something to store, so a full or read-only disk does not prevent
 * reading. Rejects when the root is not a directory.
 */
export async function createWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const givenRoot = resolve(options.root);
  const root = await resolveRoot(givenRoot);
  const chosen = await resolveChosen(options.stateDirectory);
  const userDirectory = await resolveChosen(options.userKeyDirectory);
  const state = new StateDirectory(chosen ?? join(root, '.orion'), root);
  state.closeToOthers(chosen === undefined ? 'whole' : 'inside');
  const { shared } = options;
  const parts =
    shared === undefined
      ? null
      : await import('./stored/open-shared.ts').then(({ openShared }) =>
          openShared(shared, { root, clock: options.clock }),
        );
  return openWorkspace(options, { givenRoot, root, state, userDirectory }, parts);
}

async function resolveChosen(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : resolveChosenDirectory(resolve(path));
}

async function resolveRoot(givenRoot: string): Promise<string> {
  let root: string;
  try {
    root = await realpath(givenRoot);
    if ((await stat(root)).isDirectory()) return root;
  } catch (error) {
    throw new OrionError({
      code: 'INVALID_TARGET',
      message: `The workspace ${shown(givenRoot)} cannot be opened.`,
      hint: 'Name a directory that exists.',
      cause: error,
    });
  }
  throw new OrionError({
    code: 'INVALID_TARGET',
    message: `The workspace ${shown(givenRoot)} is not a directory.`,
    hint: 'Name a directory.',
  });
}

type Places = {
  readonly givenRoot: string;
  readonly root: string;
  readonly state: StateDirectory;
  readonly userDirectory: string | undefined;
};

function openWorkspace(
  options: WorkspaceOptions,
  places: Places,
  shared: SharedParts | null,
): Workspace {
  const settings: WorkspaceSettings = { ...DEFAULT_WORKSPACE_SETTINGS, ...options.settings };
  const { clock, confirmProtectedPath, onEvent = (): void => undefined } = options;
  const { root, state } = places;
  const observer = createProcessObserver(clock, options.identity);
  const interactive = settings.interactive || confirmProtectedPath !== undefined;
  const policy = new PathPolicy({ ...settings, ...places, interactive, confirmProtectedPath });
  let key: Promise<SessionKey | null> | null = null;
  const loadKey = (): Promise<SessionKey | null> => {
    key ??= loadSessionKey(options.userKeyDirectory);
    return key;
  };
  const attic = { maxAgeMs: settings.atticMaxAgeMs, maxBytes: settings.atticMaxBytes };
  const limits = { maxAgeMs: settings.backupsMaxAgeMs, maxBytes: settings.backupsMaxBytes };
  const backups = new BackupStore({
    state,
    clock,
    policy,
    limits,
    loadKey,
    ...(shared === null ? {} : { shared: shared.backups }),
  });
  const notes = new TemporaryNotes({ state, root, observer, clock });
  const journals = new PlanJournals(state, observer, clock);
  const scratch = new ScratchFiles({ state, clock, root, limits: attic });
  const list = (): Promise<ProtectedPaths> => listProtected(root, (path) => policy.isAllowed(path));
  const setAside = new SetAside({ state, clock, root, limits: attic, list });
  const sessionOptions: SessionStoreOptions = {
    clock,
    root,
    state,
    policy,
    observer,
    loadKey,
    maxSessionAgeMs: settings.maxSessionAgeMs,
    attic,
    onEvent,
    fileSystemNow: options.fileSystemNow,
    backups,
    sweepCommits: async () => {
      await journals.recover({ policy, takeBack: takeBackUnasked, lockTarget, onEvent });
      await notes.sweep(backups, lockTarget);
      await backups.prune();
    },
  };
  const sessions =
    shared === null ? new DiskSessionStore(sessionOptions) : shared.openSessions(sessionOptions);
  const lockTarget: LockTarget = (realPath, path) => sessions.lockTarget(realPath, path);
  const committer: Committer = { root, policy, backups, notes, lockTarget };
  // The user who ran the plan had permission, and the previous bytes need no less protection than the new ones.
  const unaskedPolicy = new PathPolicy({
    ...settings,
    ...places,
    interactive: false,
    confirmProtectedPath: () => Promise.resolve(true),
  });

  /** Without a request, only a proven backup is restored: a journal in a cloned repository can name any backup. */
  async function takeBackUnasked(id: string): Promise<void> {
    const backup = await onDisk('read the backups', () => backups.read(id));
    if (backup !== null && !backup.own) {
      throw backupForeign(id, [backup.path], await backups.keyProblem());
    }
    await undoChange({ ...committer, policy: unaskedPolicy }, { id });
  }

  return {
    root,
    stateDirectory: state.path,
    sessions,
    maxTargetBytes: settings.maxTargetBytes,
    ensureStateDirectory: () => onDisk('make the state directory', () => state.ensure(state.path)),
    checkTarget: (target, operation) => policy.snapshot(target, operation),
    readTarget: (snapshot) => readTarget(policy, snapshot),
    prepareCommit: (request) => prepareCommit(committer, request),
    commit: (request) => commitFile(committer, request),
    changes: () => madeChanges(committer),
    findChangedFile: async (changeId) => {
      const found = await onDisk('read the backups', () => backups.find(changeId));
      if (found === null) return null;
      const { id, path, operation, before, after } = found;
      return { backup_id: id, target_file: path, operation, before, after };
    },
    undo: (request) => undoChange(committer, request),
    readVersion: (path, sha256) => fileVersion({ policy, backups }, path, sha256),
    commitPlan: (request) => commitPlan(committer, journals, request),
    createScratchFile: () => scratch.create(),
    textList: (name, limits) => createTextList({ state, clock, loadKey, observer }, name, limits),
    ...createServerFiles({ state, clock, loadKey, lockTarget }),
    ...shared?.pageAccess,
    readText: (path, range) => readWorkspaceText(policy, scratch, path, range),
    listFiles: (limit, selection) => listFiles(policy, limit, selection),
    searchFiles: (request) => searchFiles(policy, request),
    listProtected: list,
    protectedChanges: (before, how) => setAside.changesSince(before, how),
    readInstructions: (maxBytes) => readInstructions(root, maxBytes),
    close: () => sessions.releaseAll(),
  };
}

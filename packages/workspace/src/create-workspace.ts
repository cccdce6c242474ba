import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OrionError } from '@orion/contracts';
import type {
  Clock,
  CommitRequest,
  CommitResult,
  ScratchFile,
  PlanCommitOutcome,
  PlanCommitRequest,
  PreparedCommit,
  PrepareRequest,
  ReadRange,
  RecordedChange,
  SessionStore,
  TargetSnapshot,
  TextExcerpt,
  UndoReport,
  UndoRequest,
  Workspace,
  WriteOperation,
} from '@orion/contracts';
import { BackupStore } from './commit/backup-store.ts';
import type { Committer } from './commit/commit-site.ts';
import { hashPath } from './commit/hash-file.ts';
import { commitFile, prepareCommit } from './commit/prepare-commit.ts';
import { readTarget } from './commit/read-target.ts';
import { TemporaryNotes } from './commit/temporary-notes.ts';
import { onDisk, toDiskError } from './disk/disk-error.ts';
import { createProcessObserver } from './ownership/process-identity.ts';
import type { ProcessIdentity } from './ownership/process-identity.ts';
import { shown } from './path-policy/parse-target.ts';
import { ScratchFiles } from './scratch-files.ts';
import { PathPolicy } from './path-policy/path-policy.ts';
import type { ConfirmProtectedPath } from './path-policy/path-policy.ts';
import { isInside } from './path-policy/resolve-path.ts';
import { commitPlan } from './plan/commit-plan.ts';
import type { LockTarget } from './plan/commit-plan.ts';
import { PlanJournals } from './plan/plan-journal.ts';
import { listFiles } from './reading/list-files.ts';
import type { FileList } from './reading/list-files.ts';
import { readInstructions } from './reading/read-instructions.ts';
import { readText } from './reading/read-text.ts';
import type { EventSink } from './session-dir/session-store-options.ts';
import { loadSessionKey } from './session-dir/session-key.ts';
import type { SessionKey } from './session-dir/session-key.ts';
import { DiskSessionStore } from './session-dir/session-store.ts';
import { resolveChosenDirectory, StateDirectory } from './state-directory.ts';
import { changesOf } from './undo/history.ts';
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
  /** Whether a person is there: then `package.json` and lockfiles need a yes, too. */
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
 * Something worth a line in the trace: `cleaned`, `degraded`, `restored`, `lease_lost`,
 * `attic_dropped`, `housekeeping_failed`. Never holds content. Must not throw.
 */
export type WorkspaceEventSink = EventSink;

export type WorkspaceOptions = {
  readonly root: string;
  /** Instead of `.orion` under the root. */
  readonly stateDirectory?: string;
  readonly clock: Clock;
  readonly settings?: Partial<WorkspaceSettings>;
  /**
   * Where this user's key lies, by which own sessions are told from foreign ones. Left out, nobody is foreign, and
   * nothing is taken back unasked. Where no key can be kept, whatever an earlier process made is foreign.
   */
  readonly userKeyDirectory?: string;
  readonly onEvent?: WorkspaceEventSink;
  /** Asks a person about a protected path that `allowPaths` does not name; without it the write is refused. */
  readonly confirmProtectedPath?: ConfirmProtectedPath;
  /** What the system says of this process; another answer makes another host, for tests. */
  readonly identity?: () => Promise<ProcessIdentity>;
  /** What the file system of this directory takes for now; another answer lets an hour pass, for tests. */
  readonly fileSystemNow?: (directory: string) => Promise<number>;
};

/**
 * Opens a workspace. Nothing is written before there is something to store, so a full or read-only
 * disk does not keep anybody from reading. Rejects when the root is no directory.
 */
export async function createWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const givenRoot = resolve(options.root);
  const root = await resolveRoot(givenRoot);
  const stateDirectory =
    options.stateDirectory === undefined
      ? join(root, '.orion')
      : await resolveChosenDirectory(resolve(options.stateDirectory));
  const userDirectory =
    options.userKeyDirectory === undefined
      ? undefined
      : await resolveChosenDirectory(resolve(options.userKeyDirectory));
  const isChosen = options.stateDirectory !== undefined;
  new StateDirectory(stateDirectory, root).closeToOthers(isChosen ? 'inside' : 'whole');
  return new DiskWorkspace(options, { givenRoot, root, stateDirectory, userDirectory });
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
  readonly stateDirectory: string;
  readonly userDirectory: string | undefined;
};

class DiskWorkspace implements Workspace {
  readonly root: string;
  readonly stateDirectory: string;
  readonly sessions: SessionStore;
  readonly maxTargetBytes: number;
  readonly #policy: PathPolicy;
  /**
   * For what a start takes back on proof: whoever ran the plan had the permission, and protects the previous bytes no
   * less than the new ones.
   */
  readonly #takeBackPolicy: PathPolicy;
  readonly #backups: BackupStore;
  readonly #notes: TemporaryNotes;
  readonly #journals: PlanJournals;
  readonly #store: DiskSessionStore;
  readonly #state: StateDirectory;
  readonly #scratch: ScratchFiles;

  constructor(options: WorkspaceOptions, places: Places) {
    const settings: WorkspaceSettings = { ...DEFAULT_WORKSPACE_SETTINGS, ...options.settings };
    const { clock } = options;
    const state = new StateDirectory(places.stateDirectory, places.root);
    const observer = createProcessObserver(clock, options.identity);
    this.root = places.root;
    this.stateDirectory = places.stateDirectory;
    this.maxTargetBytes = settings.maxTargetBytes;
    this.#state = state;
    const { userDirectory: _userDirectory, ...paths } = places;
    const rules = {
      ...paths,
      allowPaths: settings.allowPaths,
      allowHardLink: settings.allowHardLink,
      maxTargetBytes: settings.maxTargetBytes,
      ...(places.userDirectory === undefined ? {} : { userDirectory: places.userDirectory }),
    };
    this.#takeBackPolicy = new PathPolicy({
      ...rules,
      interactive: false,
      confirmProtectedPath: () => Promise.resolve(true),
    });
    this.#policy = new PathPolicy({
      ...rules,
      interactive: settings.interactive || options.confirmProtectedPath !== undefined,
      ...(options.confirmProtectedPath === undefined
        ? {}
        : { confirmProtectedPath: options.confirmProtectedPath }),
    });
    let key: Promise<SessionKey | null> | null = null;
    const loadKey = (): Promise<SessionKey | null> => {
      key ??= loadSessionKey(options.userKeyDirectory);
      return key;
    };
    this.#backups = new BackupStore({
      state,
      clock,
      limits: { maxAgeMs: settings.backupsMaxAgeMs, maxBytes: settings.backupsMaxBytes },
      loadKey,
    });
    this.#notes = new TemporaryNotes(state, places.root, observer, clock);
    this.#journals = new PlanJournals(state, observer, clock);
    this.#scratch = new ScratchFiles({
      state,
      clock,
      root: places.root,
      limits: { maxAgeMs: settings.atticMaxAgeMs, maxBytes: settings.atticMaxBytes },
    });
    const onEvent = options.onEvent ?? ((): void => undefined);
    this.#store = new DiskSessionStore({
      clock,
      root: places.root,
      state,
      policy: this.#policy,
      observer,
      loadKey,
      maxSessionAgeMs: settings.maxSessionAgeMs,
      attic: { maxAgeMs: settings.atticMaxAgeMs, maxBytes: settings.atticMaxBytes },
      onEvent,
      ...(options.fileSystemNow === undefined ? {} : { fileSystemNow: options.fileSystemNow }),
      settleBackup: (id, didNotHappen) => this.#settleBackup(id, didNotHappen),
      provesChange: (id) => this.#backups.provesChange(id),
      sweepCommits: async () => {
        await this.#journals.recover({
          hashOf: (path) => this.#hashOf(path),
          takeBack: (id) => this.#takeBackUnasked(id),
          onEvent,
        });
        await this.#notes.sweep((id, didNotHappen) => this.#settleBackup(id, didNotHappen));
        await this.#backups.prune();
      },
    });
    this.sessions = this.#store;
  }

  ensureStateDirectory(): Promise<void> {
    return onDisk('make the state directory', () => this.#state.ensure(this.stateDirectory));
  }

  checkTarget(target: string, operation: WriteOperation): Promise<TargetSnapshot> {
    return this.#policy.snapshot(target, operation);
  }

  readTarget(snapshot: TargetSnapshot): AsyncIterable<Uint8Array> {
    return readTarget(this.#policy, snapshot);
  }

  prepareCommit(request: PrepareRequest): Promise<PreparedCommit> {
    return prepareCommit(this.#committer(), request);
  }

  commit(request: CommitRequest): Promise<CommitResult> {
    return commitFile(this.#committer(), request);
  }

  async listChanges(): Promise<readonly RecordedChange[]> {
    return changesOf(await onDisk('read the backups', () => this.#backups.list()));
  }

  undo(request: UndoRequest): Promise<UndoReport> {
    return undoChange(
      {
        committer: this.#committer(),
        lockTarget: (realPath, path) => this.#store.lockTarget(realPath, path),
      },
      request,
    );
  }

  commitPlan(request: PlanCommitRequest): Promise<readonly PlanCommitOutcome[]> {
    return commitPlan(
      {
        committer: this.#committer(),
        journals: this.#journals,
        lockTarget: (realPath, path) => this.#store.lockTarget(realPath, path),
        takeBack: (id, lockTarget) => this.#takeBack(id, this.#policy, lockTarget),
      },
      request,
    );
  }

  async #takeBack(
    backupId: string,
    policy: PathPolicy,
    lockTarget: LockTarget = (realPath, path) => this.#store.lockTarget(realPath, path),
  ): Promise<void> {
    await undoChange({ committer: this.#committer(policy), lockTarget }, { id: backupId });
  }

  #settleBackup(id: string, didNotHappen: boolean): Promise<void> {
    return this.#backups.settle(id, didNotHappen, (path) => this.#hashOf(path));
  }

  /** What nobody asks for is done on proof alone: a journal in a cloned repository may name any backup. */
  async #takeBackUnasked(backupId: string): Promise<void> {
    const backup = await onDisk('read the backups', () => this.#backups.read(backupId));
    if (backup !== null && !backup.own) {
      throw backupForeign(backupId, [backup.path], await this.#backups.keyProblem());
    }
    await this.#takeBack(backupId, this.#takeBackPolicy);
  }

  #committer(policy: PathPolicy = this.#policy): Committer {
    return {
      root: this.root,
      policy,
      backups: this.#backups,
      notes: this.#notes,
    };
  }

  /** Null when there is no such file. */
  async #hashOf(path: string): Promise<string | null> {
    const found = await this.#policy.contain(path);
    return (await hashPath(found.realPath))?.sha256 ?? null;
  }

  createScratchFile(): ScratchFile {
    return this.#scratch.create();
  }

  async readText(path: string, range: ReadRange): Promise<TextExcerpt> {
    const found = await this.#policy.contain(path);
    if (isInside(this.stateDirectory, found.realPath) && !this.#scratch.holds(found.realPath)) {
      throw new OrionError({
        code: 'PROTECTED_PATH',
        message: `${shown(found.path)} belongs to Orion's own state.`,
        hint: 'Read a file of the project.',
      });
    }
    if (found.stat?.isDirectory() === true) {
      throw new OrionError({
        code: 'IS_DIRECTORY',
        message: `${shown(found.path)} is a directory.`,
      });
    }
    if (found.stat !== null && !found.stat.isFile()) {
      throw new OrionError({
        code: 'NOT_A_FILE',
        message: `${shown(found.path)} is not a regular file.`,
      });
    }
    try {
      return await readText(found.path, found.realPath, range);
    } catch (error) {
      throw toDiskError(error, `read ${shown(found.path)}`);
    }
  }

  listFiles(limit: number): Promise<FileList> {
    return listFiles(this.root, this.stateDirectory, limit);
  }

  readInstructions(maxBytes: number): ReturnType<Workspace['readInstructions']> {
    return readInstructions(this.root, maxBytes);
  }

  close(): Promise<void> {
    return this.#store.releaseAll();
  }
}

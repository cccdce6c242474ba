import type { OrionError } from './errors.ts';
import type {
  CommitResult,
  SessionMetadata,
  SessionRecord,
  TargetSnapshot,
  TurnRecord,
  WriteOperation,
  WritingOutcome,
  WritingRecord,
} from './write-session.ts';

/**
 * The workspace on disk: the only door through which files are read, listed and changed.
 *
 * Every path is resolved and contained in `root`. Methods reject with an `OrionError` for whatever a user or a
 * model can cause; anything else is a defect.
 */
export interface Workspace {
  /** Absolute, resolved. */
  readonly root: string;
  /** Where sessions, locks, backups and the attic live; `.orion` under the root unless moved. */
  readonly stateDirectory: string;
  /** Makes it, for whoever keeps something of its own there. Rejects as a write to the disk does. */
  ensureStateDirectory(): Promise<void>;
  readonly sessions: SessionStore;
  /** A file with more bytes is no target. */
  readonly maxTargetBytes: number;
  /**
   * Whether this operation may change this target now, and what stands there.
   *
   * Rejects with INVALID_TARGET, PROTECTED_PATH, HARD_LINK, IS_DIRECTORY, NOT_A_FILE, PERMISSION_DENIED,
   * FILE_EXISTS (create), FILE_NOT_FOUND (append).
   */
  checkTarget(target: string, operation: WriteOperation): Promise<TargetSnapshot>;
  /**
   * The bytes of an existing target, verified: rejects with TARGET_CHANGED before its end when they are not those
   * of the snapshot. Never holds the file in memory.
   */
  readTarget(snapshot: TargetSnapshot): AsyncIterable<Uint8Array>;
  /**
   * Makes everything of a change but the change: the new bytes are complete and durable beside the target, the
   * previous ones durable in the backups. Nothing is visible yet. Exactly one of `apply` and `discard` must follow.
   *
   * Rejects as `checkTarget` does, with TARGET_CHANGED, and with what the disk refuses; nothing is left then.
   */
  prepareCommit(request: PrepareRequest): Promise<PreparedCommit>;
  /** Changes one file, or nothing: prepares, calls the journal, applies. */
  commit(request: CommitRequest): Promise<CommitResult>;
  /** The changes that can be taken back, newest first. */
  listChanges(): Promise<readonly RecordedChange[]>;
  /**
   * Gives every file of a change its previous bytes back; a file that the change made is removed. The bytes that are
   * replaced are kept, so that an undo can be undone. Files that have their previous bytes already are left alone.
   *
   * Rejects with CHANGE_NOT_FOUND, BACKUP_FOREIGN, BACKUP_DAMAGED, TARGET_CHANGED (edited since, unless forced),
   * TARGET_LOCKED, and as `checkTarget` does; every file is checked before the first one changes. When the disk
   * refuses one in the middle, `details.undone` names those that are done, and the same call goes on with the rest.
   */
  undo(request: UndoRequest): Promise<UndoReport>;
  /**
   * Changes several files as one: all changes are prepared before the first is made, and a journal says which, so
   * that a start after a crash takes them back. Never rejects for a file: its error is its outcome. Rejects with
   * whatever `approve` rejects with; nothing has changed then.
   */
  commitPlan(request: PlanCommitRequest): Promise<readonly PlanCommitOutcome[]>;
  /** Keeps a text that belongs to no file while it arrives, under a name of its own in the state directory. */
  keepText(): KeptText;
  /** Lines of a text file, for the read tool. Rejects with FILE_NOT_FOUND, IS_DIRECTORY, INVALID_CONTENT … */
  readText(path: string, range: ReadRange): Promise<TextExcerpt>;
  /** Files of the workspace, sorted, without ignored ones and the state directory; relative, `/`-separated. */
  listFiles(limit: number): Promise<{
    readonly files: readonly string[];
    readonly truncated: boolean;
    /** Ignore files that were not used. */
    readonly refused: readonly RefusedFile[];
  }>;
  /** `AGENTS.md`, else `ORION.md`, at the root, at most `maxBytes` of it; null when neither can be used. */
  readInstructions(maxBytes: number): Promise<{
    readonly instructions: ProjectInstructions | null;
    readonly refused: readonly RefusedFile[];
  }>;
  close(): Promise<void>;
}

export type ProjectInstructions = {
  readonly name: string;
  readonly content: string;
  readonly truncated: boolean;
};

/** A file of the workspace that was not used: no regular file, too large, a link that leads elsewhere. */
export type RefusedFile = {
  readonly path: string;
  /** Completes "because …". */
  readonly reason: string;
};

/** A text that is being kept. Nothing here rejects: what cannot be kept is told by `finish`. */
export interface KeptText {
  append(text: string): void;
  /** Makes it durable; null if it could not be kept. Nothing may be appended afterwards. */
  finish(): Promise<KeptTextFile | null>;
  /** Removes it, finished or not. */
  discard(): Promise<void>;
}

export type KeptTextFile = {
  /** Relative to the root where it lies inside, else absolute. `readText` takes it. */
  readonly path: string;
  readonly bytes: number;
};

export type ReadRange = {
  /** First line, counted from 1. */
  readonly firstLine?: number;
  readonly maxLines: number;
  readonly maxBytes: number;
};

export type TextExcerpt = {
  readonly path: string;
  readonly content: string;
  readonly firstLine: number;
  readonly lastLine: number;
  /** Of the whole file. */
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly truncated: boolean;
};

/** Reads the bytes from the start, each time it is called. A chunk holds until the next one is asked for. */
export type ByteSource = () => AsyncIterable<Uint8Array>;

/** One piece of the new file; the pieces in order are the whole of it. */
export type CommitPart =
  /** Bytes `start` up to, not including, `end` of the file as it was when the work began. */
  | { readonly kind: 'kept'; readonly start: number; readonly end: number }
  /** New bytes. Read once, and a second time only when line endings turn out not to be convertible. */
  | { readonly kind: 'new'; readonly source: ByteSource };

export type PrepareRequest = {
  readonly target: string;
  readonly operation: WriteOperation;
  readonly parts: readonly CommitPart[];
  /**
   * `match`: in a file whose lines all end in CRLF, bare LFs of new bytes become CRLF (when nothing is kept, only if
   * the new bytes have no CRLF at all), and a byte order mark stays when nothing is kept. `as-is`: new bytes go in
   * as they come.
   */
  readonly eol: 'match' | 'as-is';
  /** The target when the work began; anything else that stands there now is TARGET_CHANGED. */
  readonly expected: TargetSnapshot;
  /**
   * Somebody is asked between preparing and applying: what lies ready is read once more before the change, and is
   * APPROVAL_STALE if it is not what was prepared.
   */
  readonly reviewed?: true;
  /** The session or plan that this change is part of: one undo takes back all changes of one id. */
  readonly changeId?: string;
};

export type CommitRequest = PrepareRequest & {
  /** Called with what is about to happen, before the target changes; the commit goes on when it resolves. */
  readonly journal: (writing: WritingRecord) => Promise<void>;
};

/** A change that is about to happen. */
export interface PreparedCommit {
  /** What `apply` is going to do, for a journal that is durable before it is called. */
  readonly writing: WritingRecord;
  /** What `apply` is going to report; it may add warnings. */
  readonly result: CommitResult;
  /**
   * Makes the change visible and durable. Rejects with TARGET_CHANGED or FILE_EXISTS when something else stands
   * there, with APPROVAL_STALE, and with what the disk refuses; everything prepared is then gone. An error whose details say
   * `changed: true` came after the change.
   */
  apply(): Promise<CommitResult>;
  /** Removes everything prepared; never rejects. */
  discard(): Promise<void>;
}

export type PlanCommitRequest = {
  readonly planId: string;
  /** Each of another file. */
  readonly changes: readonly Omit<PrepareRequest, 'changeId'>[];
  /** A copy beside each file that exists, under the first free name of `<file>.bak`, `<file>.bak.1` … */
  readonly siblingBackups: boolean;
  /** True: when one change fails, those before it are taken back. */
  readonly atomic: boolean;
  /** Called when everything is prepared and nothing has changed; the changes are made when it resolves. */
  readonly approve?: (prepared: readonly CommitResult[]) => Promise<void>;
};

/** What became of one change of a plan. */
export type PlanCommitOutcome =
  | {
      readonly kind: 'done';
      readonly result: CommitResult;
      /** The copy beside the file, relative to the workspace root. */
      readonly sibling?: string;
    }
  | { readonly kind: 'failed'; readonly error: OrionError }
  /** It was made, and taken back because a later one failed. */
  | { readonly kind: 'restored' }
  /** It was made, and could not be taken back: somebody changed the file since, or the disk refused. */
  | {
      readonly kind: 'left';
      readonly result: CommitResult;
      readonly error: OrionError;
      /** The next start tries again, by the plan's journal. */
      readonly willBeRestored: boolean;
    }
  | { readonly kind: 'skipped' };

export type UndoRequest = {
  /** A change's id, or the backup id of one of its files; the latest change that is in effect when left out. */
  readonly id?: string;
  /** Also a file that was edited since (that version is kept, too), and a change that was recorded elsewhere. */
  readonly force?: boolean;
};

/** Everything that one session or plan changed, or one undo. */
export type RecordedChange = {
  readonly change_id: string;
  /** ISO-8601, UTC; of its last file. */
  readonly created_at: string;
  readonly status: 'in_effect' | 'undone';
  /** The changes that this one took back; empty for anything but an undo. */
  readonly undoes: readonly string[];
  /** Not recorded by this user here, but come with the folder. */
  readonly foreign: boolean;
  readonly files: readonly RecordedFile[];
};

export type RecordedFile = {
  readonly backup_id: string;
  /** Relative to the workspace root, behind any link. */
  readonly target_file: string;
  readonly operation: WriteOperation | 'undo';
  readonly undone: boolean;
  /** What undo puts back; null: there was no file. */
  readonly before: {
    readonly sha256: string;
    readonly bytes: number;
    readonly mode: string;
  } | null;
  /** What has to stand there for it; null: the file was removed. */
  readonly after: { readonly sha256: string } | null;
};

export type UndoneFile = {
  readonly target_file: string;
  readonly outcome: 'restored' | 'removed' | 'unchanged';
  /** Of the file as it is now; null when there is none. */
  readonly sha256: string | null;
  readonly bytes: number;
  /** Where the bytes are that were replaced. */
  readonly backup_id?: string;
  readonly warnings: readonly string[];
  readonly not_kept: readonly string[];
};

export type UndoReport = {
  readonly change_id: string;
  /** Undo this to have the change again; missing when nothing had to be done. */
  readonly undo_id?: string;
  readonly files: readonly UndoneFile[];
};

/**
 * Write sessions on disk: directories, leases, target locks, the attic.
 *
 * A session belongs to one process at a time, proven by its lease; see `claim` for what happens when that
 * process is gone.
 */
export interface SessionStore {
  /**
   * Makes the session directory, takes its lease and the lock of its target. Without a usable disk the session
   * lives in memory (`persistence`). Rejects with TARGET_LOCKED and leaves nothing behind.
   * `turn` is there as soon as the session is: a process that is killed at any moment leaves both or neither.
   */
  begin(metadata: SessionMetadata, turn?: TurnRecord): Promise<SessionHandle>;
  /** Everything that lies there, newest first, whatever its condition; or only what a start offers to recover. */
  list(which?: 'all' | 'recoverable'): Promise<readonly SessionListing[]>;
  /**
   * Takes over an orphan, from the sessions or the attic. Of several processes exactly one succeeds.
   * Rejects with SESSION_NOT_FOUND, SESSION_BUSY (live elsewhere, or claimed first by another), SESSION_DAMAGED,
   * SESSION_FOREIGN, TARGET_LOCKED.
   */
  claim(sessionId: string): Promise<ClaimedSession>;
  /** What is known of the turn that began it, without a claim; null for what is not this user's, or not there. */
  readTurn(sessionId: string): Promise<TurnRecord | null>;
  /**
   * Makes a session of its own, with an id of its own, of a text that `SessionHandle.rescue` saved at this path; the id is
   * for `claim` in this process. What was rescued goes when the session is removed. Rejects with FILE_NOT_FOUND,
   * SESSION_DAMAGED, SESSION_FOREIGN, TARGET_LOCKED, and USAGE when it belongs to another workspace.
   */
  adopt(file: string): Promise<string>;
  /** Moves an orphan to the attic; claims it first. */
  discard(sessionId: string): Promise<{ readonly attic: string }>;
  /** Moves orphans to the attic: those idle for the maximum age, or with `all` every one. Never a live one. */
  clean(options: { readonly all: boolean }): Promise<CleanReport>;
  /** The saved text as it lies there, also of a damaged or foreign session, without a claim. */
  readContent(sessionId: string): AsyncIterable<Uint8Array>;
  /** What every start does: old orphans to the attic, the attic within its limits, left-over temporary files away. */
  housekeep(): Promise<CleanReport>;
}

export type CleanReport = {
  readonly moved: readonly {
    readonly session_id: string;
    readonly target_file: string | null;
    readonly bytes: number;
    readonly lines: number;
  }[];
  readonly bytes: number;
  /** Locks that nobody holds and that were removed. */
  readonly locks: number;
};

export type SessionStatus = 'live' | 'orphan' | 'damaged' | 'foreign';

export type SessionListing = {
  readonly session_id: string;
  readonly status: SessionStatus;
  /** Of the owner, while the session is live. */
  readonly pid?: number;
  readonly state: string | null;
  readonly target_file: string | null;
  readonly operation: WriteOperation | null;
  readonly intent: string | null;
  /** Milliseconds since anything last happened to it. */
  readonly age_ms: number;
  readonly lines: number;
  readonly bytes: number;
  readonly session_dir: string;
  /** Younger than the maximum age, so that a start offers to recover it. */
  readonly recoverable: boolean;
  readonly code?: string;
};

export type ClaimedSession = {
  readonly handle: SessionHandle;
  /** Null when `state.json` was missing or unreadable; the content is all that is known then. */
  readonly record: SessionRecord | null;
  readonly turn: TurnRecord | null;
  /** A commit that had begun: see `resolveWriting`. */
  readonly writing: WritingRecord | null;
  /** What was left out or mended, for the person: a cut code point, undecided text that was set aside. */
  readonly notes: readonly string[];
};

/** How far the disk has come. */
export type SaveResult = { readonly durableBytes: number; readonly persistence: 'disk' | 'memory' };

/**
 * A session that this process owns.
 *
 * Appending never waits and never fails: text is handed to the operating system within 100 ms or at 64 KiB, and
 * becomes durable with `save`. Without a usable disk everything stays in memory until the disk is back.
 */
export interface SessionHandle {
  readonly id: string;
  readonly metadata: SessionMetadata;
  /** Absolute. */
  readonly directory: string;
  /** The content file that `state.json` names; another one after a failed fsync. */
  contentPath(): string;
  persistence(): 'disk' | 'memory';
  /** Content that is known to belong to the file, in order. Lone surrogates are kept, as WTF-8. */
  append(text: string): void;
  /** Bytes appended so far, saved or not. */
  bytes(): number;
  /** Text that may yet prove to be content: `pending.txt`. */
  appendPending(text: string): void;
  clearPending(): void;
  readPending(): AsyncIterable<string>;
  /** Text that does not belong to the file but is kept: `trailing.txt`. */
  setAside(text: string): void;
  /**
   * Sets the content aside and begins it anew, in another file; `record` says so in
   * `state.json`. Durable when it resolves. A crash before that leaves the session as it was; a disk that fails
   * leaves it in memory, as with `save`.
   */
  startOver(record: SessionRecord): Promise<void>;
  /**
   * Makes everything appended so far durable, then replaces `state.json`. Calls while one is under way share the
   * next one. Rejects with DISK_FULL, PERMISSION_DENIED, READ_ONLY or WRITE_FAILED; the session then lives in
   * memory and a later `save` tries again at the durable offset.
   */
  save(record: SessionRecord): Promise<SaveResult>;
  saveTurn(turn: TurnRecord): Promise<void>;
  /**
   * Bytes of the content, from memory and disk, those not yet saved included. A chunk holds until the next one is
   * asked for: whoever needs it longer copies it.
   */
  readContent(start?: number, end?: number): AsyncIterable<Uint8Array>;
  /**
   * Saves all of the session in a new private folder in the system's temporary folder, since its own disk cannot hold it
   * and it is about to end. Returns the path of the text, for `SessionStore.adopt`; rejects when that disk fails too.
   */
  rescue(): Promise<string>;
  /** Records a commit that is about to happen; durable when it resolves. */
  recordWriting(writing: WritingRecord): Promise<void>;
  /** What became of a recorded commit. Removes the left-over temporary file. */
  resolveWriting(writing: WritingRecord): Promise<WritingOutcome>;
  /** Aborted when another process has taken the session over; nothing is written from then on. */
  readonly lost: AbortSignal;
  /** Gives lease and lock back; the session stays, for a recovery. */
  release(): Promise<void>;
  /**
   * After a commit: the directory goes. Text that was set aside moves to the attic, with what of the content the last
   * record does not count to the file.
   */
  remove(): Promise<{ readonly trailing?: string; readonly warnings: readonly string[] }>;
  /** To the attic, where a recovery still finds it. */
  discard(): Promise<{ readonly attic: string }>;
}

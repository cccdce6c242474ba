import type {
  SessionMetadata,
  SessionRecord,
  TurnRecord,
  WriteOperation,
  WritingOutcome,
  WritingRecord,
} from '../write-session.ts';

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

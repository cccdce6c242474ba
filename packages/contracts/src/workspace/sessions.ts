import type { TurnFence } from '../conversation-store.ts';
import type {
  Seam,
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
 * A session belongs to one process at a time, proven by its lease. See `claim` for what happens when that process is
 * gone.
 */
export interface SessionStore {
  /**
   * Creates the session directory, and takes its lease and the lock of its target. Without a usable disk, the session
   * lives in memory (`persistence`). Rejects with TARGET_LOCKED and leaves nothing behind. `turn` is stored together
   * with the session: a process killed at any moment leaves both or neither. `fence` is the turn that owns it, for a
   * store that knows whose a turn is.
   */
  begin(metadata: SessionMetadata, turn?: TurnRecord, fence?: TurnFence): Promise<SessionHandle>;
  /** One session, from the sessions or the attic. Rejects with SESSION_NOT_FOUND. */
  find(sessionId: string): Promise<SessionListing>;
  /**
   * All stored sessions, newest first, whatever their condition; or only those that a start offers to recover. Reads each
   * of them, except those whose id is not wanted.
   */
  list(
    which?: 'all' | 'recoverable',
    isWanted?: (sessionId: string) => boolean,
  ): Promise<readonly SessionListing[]>;
  /**
   * Takes over an orphan, from the sessions or the attic. Of several processes exactly one succeeds.
   * Rejects with SESSION_NOT_FOUND, SESSION_BUSY (live elsewhere, or claimed first by another), SESSION_DAMAGED,
   * SESSION_FOREIGN, TARGET_LOCKED.
   */
  claim(sessionId: string, fence?: TurnFence): Promise<ClaimedSession>;
  /** The turn that began the session, read without a claim; null if it belongs to another user or does not exist. */
  readTurn(sessionId: string): Promise<TurnRecord | null>;
  /**
   * Creates a new session, with a new id, from a text that `SessionHandle.rescue` saved at this path. The id can be
   * claimed in this process. The rescued files are removed together with the session. Rejects with FILE_NOT_FOUND,
   * SESSION_DAMAGED, SESSION_FOREIGN, TARGET_LOCKED, and USAGE if it belongs to another workspace.
   */
  adopt(file: string): Promise<string>;
  /** Claims an orphan and moves it to the attic. */
  discard(sessionId: string): Promise<{ readonly attic: string }>;
  /**
   * Moves orphans that have been idle for the maximum age to the attic, or with `all` every orphan. Never moves a live
   * session.
   */
  clean(options: { readonly all: boolean }): Promise<CleanReport>;
  /**
   * The stored text, or the bytes of it from `start` to `end`, read without a claim. Also works for damaged and foreign
   * sessions.
   */
  readContent(sessionId: string, start?: number, end?: number): AsyncIterable<Uint8Array>;
  /**
   * Runs at every start: moves old orphans to the attic, enforces its limits, and removes left-over temporary files.
   */
  housekeep(): Promise<CleanReport>;
  /** What sessions have written since this object was made. */
  countBytes(): SessionBytes;
}

/** Of the texts of sessions, bytes that were set aside included. */
export type SessionBytes = {
  /** The operating system has them. */
  readonly saved: number;
  /** The disk has them, too. */
  readonly synced: number;
};

export type CleanReport = {
  readonly moved: readonly {
    readonly session_id: string;
    readonly target_file: string | null;
    readonly bytes: number;
    readonly lines: number;
  }[];
  readonly bytes: number;
  /** Number of locks without an owner that were removed. */
  readonly locks: number;
};

export type SessionStatus = 'live' | 'orphan' | 'damaged' | 'foreign';

export type SessionListing = {
  readonly session_id: string;
  readonly status: SessionStatus;
  /** The process id of the owner of a live session. */
  readonly pid?: number;
  readonly state: string | null;
  readonly target_file: string | null;
  readonly operation: WriteOperation | null;
  readonly intent: string | null;
  /** Milliseconds since the last activity. */
  readonly age_ms: number;
  readonly lines: number;
  /** What is there of the text. */
  readonly bytes: number;
  /** Of these, what the last save made durable. */
  readonly saved_bytes: number;
  /** Where the saved text was joined. */
  readonly seams: readonly Seam[];
  /** When it was taken over from another process or an earlier turn, as far as that is saved: the last time. */
  readonly recovered_at?: string;
  readonly session_dir: string;
  /** Whether a start offers to recover it, because it is younger than the maximum age and a model can continue it. */
  readonly recoverable: boolean;
  /** A program uploads its text, and no model continues it. */
  readonly uploaded?: true;
  /** It was discarded; only `claim` brings it back. */
  readonly discarded?: true;
  readonly code?: string;
};

export type ClaimedSession = {
  readonly handle: SessionHandle;
  /** Null if `state.json` was missing or unreadable. Only the content is known then. */
  readonly record: SessionRecord | null;
  readonly turn: TurnRecord | null;
  /** A commit that had begun; see `resolveWriting`. */
  readonly writing: WritingRecord | null;
  /** Notes for the person about what was omitted or repaired: a cut code point, undecided text that was set aside. */
  readonly notes: readonly string[];
};

/** What is durable. */
export type SaveResult = { readonly durableBytes: number; readonly persistence: 'disk' | 'memory' };

/**
 * A session that this process owns.
 *
 * Appending never waits and never fails. Text is written to the operating system within 100 ms or at 64 KiB, and
 * becomes durable with `save`. Without a usable disk, everything stays in memory until the disk is back.
 */
export interface SessionHandle {
  readonly id: string;
  readonly metadata: SessionMetadata;
  /** Absolute; the name of a session that lies in a database. */
  readonly directory: string;
  /** The content file named by `state.json`. A failed fsync changes it. No file where there is no directory. */
  contentPath(): string;
  persistence(): 'disk' | 'memory';
  /** Appends content that belongs to the file. Lone surrogates are kept, as WTF-8. */
  append(text: string): void;
  /** Appends content as it is, valid text or not. Copies the bytes. */
  appendBytes(bytes: Uint8Array): void;
  /** Bytes appended so far, saved or not. */
  bytes(): number;
  /** How many of them the operating system has: the end of this process does not take them, a power cut may. */
  savedBytes(): number;
  /** Of these, what is durable. */
  durableBytes(): number;
  /** Appends text that may turn out to be content, to `pending.txt`. */
  appendPending(text: string): void;
  clearPending(): void;
  readPending(): AsyncIterable<string>;
  /** Saves text that does not belong to the file, in `trailing.txt`. */
  setAside(text: string): void;
  /**
   * Sets the content aside and starts new content in another file; `record` goes to `state.json`. Durable when it
   * resolves. A crash before that leaves the session as it was. A disk failure leaves it in memory, as with `save`.
   */
  startOver(record: SessionRecord): Promise<void>;
  /**
   * Makes everything appended so far durable, then replaces `state.json`. Calls during a save share the next one.
   * Rejects with DISK_FULL, PERMISSION_DENIED, READ_ONLY or WRITE_FAILED. The session then lives in memory, and a later
   * `save` tries again at the durable offset.
   */
  save(record: SessionRecord): Promise<SaveResult>;
  saveTurn(turn: TurnRecord): Promise<void>;
  /**
   * The bytes of the content, from memory and disk, including unsaved ones. A chunk is valid until the next one is
   * requested; copy it to keep it longer.
   */
  readContent(start?: number, end?: number): AsyncIterable<Uint8Array>;
  /**
   * Saves the whole session to a new private folder in the system's temporary folder, because its own disk cannot hold
   * it and it is about to end. Returns the path of the text, for `SessionStore.adopt`. Rejects if that disk fails, too.
   */
  rescue(): Promise<string>;
  /** Records a pending commit. Durable when it resolves. */
  recordWriting(writing: WritingRecord): Promise<void>;
  /** Determines the outcome of a recorded commit. Removes its left-over temporary file. */
  resolveWriting(writing: WritingRecord): Promise<WritingOutcome>;
  /** Aborted when another process has taken over the session. Nothing is written afterwards. */
  readonly lost: AbortSignal;
  /** Releases lease and lock. The session stays and can be recovered. */
  release(): Promise<void>;
  /**
   * Removes the directory after a commit. Text that was set aside moves to the attic, together with content outside of
   * the range in the last record.
   */
  remove(): Promise<{ readonly trailing?: string; readonly warnings: readonly string[] }>;
  /** Moves the session to the attic, where a recovery can still find it. */
  discard(): Promise<{ readonly attic: string }>;
}

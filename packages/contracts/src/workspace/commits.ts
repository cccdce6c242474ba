import type {
  CommitResult,
  TargetSnapshot,
  WriteOperation,
  WritingRecord,
} from '../write-session.ts';

/** Changes one file. */
export interface WorkspaceCommits {
  /**
   * Makes everything of a change but the change: the new bytes are complete and durable beside the target, the
   * previous ones durable in the backups. Nothing is visible yet. Exactly one of `apply` and `discard` must follow.
   *
   * Rejects as `checkTarget` does, with TARGET_CHANGED, and with what the disk refuses; nothing is left then.
   */
  prepareCommit(request: PrepareRequest): Promise<PreparedCommit>;
  /** Changes one file, or nothing: prepares, calls the journal, applies. */
  commit(request: CommitRequest): Promise<CommitResult>;
}

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

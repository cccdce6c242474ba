import type {
  CommitResult,
  TargetSnapshot,
  WriteOperation,
  WritingRecord,
} from '../write-session.ts';

/** Changes one file. */
export interface WorkspaceCommits {
  /**
   * Does everything for a change except the change: the new bytes are complete and durable beside the target, and the
   * previous ones are durable in the backups. Nothing is visible yet. Call exactly one of `apply` and `discard`
   * afterwards.
   *
   * Rejects like `checkTarget`, with TARGET_CHANGED, and with disk errors; nothing is left then.
   */
  prepareCommit(request: PrepareRequest): Promise<PreparedCommit>;
  /** Changes one file, or nothing: prepares, calls the journal, applies. */
  commit(request: CommitRequest): Promise<CommitResult>;
}

/** Each call reads the bytes from the start. A chunk is valid until the next one is requested. */
export type ByteSource = () => AsyncIterable<Uint8Array>;

/** One piece of the new file. The pieces in order form the whole file. */
export type CommitPart =
  /** Bytes from `start` up to but not including `end` of the file as it was when the work began. */
  | { readonly kind: 'kept'; readonly start: number; readonly end: number }
  /** New bytes. Read once, and a second time only if line endings turn out not to be convertible. */
  | { readonly kind: 'new'; readonly source: ByteSource };

export type PrepareRequest = {
  readonly target: string;
  readonly operation: WriteOperation;
  readonly parts: readonly CommitPart[];
  /**
   * `match`: in a file whose lines all end in CRLF, bare LFs of new bytes become CRLF (if nothing is kept, only when
   * the new bytes contain no CRLF at all), and a byte order mark stays if nothing is kept. `as-is`: new bytes are
   * written unchanged.
   */
  readonly eol: 'match' | 'as-is';
  /** The target when the work began. Any other state now is TARGET_CHANGED. */
  readonly expected: TargetSnapshot;
  /**
   * A person is asked between preparing and applying. The prepared file is read again before the change, and rejected
   * with APPROVAL_STALE if it is not what was prepared.
   */
  readonly reviewed?: true;
  /** The session or plan that this change is part of. One undo reverts all changes with the same id. */
  readonly changeId?: string;
};

export type CommitRequest = PrepareRequest & {
  /** Called with the pending change before the target changes. The commit continues when it resolves. */
  readonly journal: (writing: WritingRecord) => Promise<void>;
};

/** A prepared change. */
export interface PreparedCommit {
  /** What `apply` will do, for a journal that is durable before the call. */
  readonly writing: WritingRecord;
  /** What `apply` will report. It may add warnings. */
  readonly result: CommitResult;
  /**
   * Makes the change visible and durable. Rejects with TARGET_CHANGED or FILE_EXISTS if the target is not as expected,
   * with APPROVAL_STALE, and with disk errors; everything prepared is gone then. An error with `changed: true` in its
   * details occurred after the change.
   */
  apply(): Promise<CommitResult>;
  /** Removes everything prepared; never rejects. */
  discard(): Promise<void>;
}

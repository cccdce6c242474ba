import type {
  BeginUpload,
  CorrectUpload,
  DiscardedUpload,
  FinalizeUpload,
  OpenUpload,
  RecoverUpload,
  UploadAnswer,
  UploadCorrections,
  UploadDiff,
  WrittenUpload,
} from '@orion/contracts';

/**
 * Write sessions whose text a program uploads as bytes, without a model. They are stored, locked, judged, committed and
 * undone like those of a model, and outlive the process: any later call continues them, in this process or another one.
 *
 * Every method rejects with SESSION_NOT_FOUND for an unknown id, with SESSION_BUSY while another call or another process
 * has the session, and with SESSION_DAMAGED or SESSION_FOREIGN.
 */
export interface WriteSessions {
  /**
   * Begins a session, with the checks and errors of `WritePlanTool_begin`. With an id of one's own, a lower-case UUID v4, the
   * same call again answers with the session that the first one began, whatever became of it.
   */
  begin(request: BeginUpload, options?: BeginUploadOptions): Promise<UploadAnswer>;
  /**
   * Stores bytes behind those that are stored; `offset` is how many these are (OFFSET_MISMATCH names the right number). When
   * it resolves, they are durable. When it rejects, because the source does, or for CONTENT_TOO_LARGE or DISK_FULL, what
   * has arrived until then stays. Rejects with UPLOAD_CLOSED once a round of corrections is over.
   */
  upload(
    sessionId: string,
    offset: number,
    source: AsyncIterable<Uint8Array>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<OpenUpload>;
  /**
   * Writes the file, or answers with the places of the text that are not valid. Repeated after that it answers with
   * the same. Rejects with EMPTY_CONTENT, OFFSET_MISMATCH, APPROVAL_REFUSED, and with the errors of the commit, such as
   * TARGET_CHANGED; the session then stays.
   */
  finalize(sessionId: string, request?: FinalizeUpload): Promise<WrittenUpload | UploadCorrections>;
  /** Ends a round of corrections, then as `finalize`. Rejects with USAGE for corrections that nothing needs. */
  correct(
    sessionId: string,
    corrections: CorrectUpload['corrections'],
  ): Promise<WrittenUpload | UploadCorrections>;
  /** What has become of a session, without taking it. Waits for a call that is beginning it. */
  find(sessionId: string): Promise<UploadAnswer>;
  /** All that are stored, those of models too, newest first. */
  list(): Promise<readonly OpenUpload[]>;
  /**
   * Takes a session over from a process that is gone, or back from the attic; with `finalize` it writes what is saved, also
   * of a session that a model began.
   */
  recover(sessionId: string, request?: RecoverUpload): Promise<UploadAnswer | UploadCorrections>;
  /** Moves a session to the attic. */
  discard(sessionId: string): Promise<DiscardedUpload>;
  /** The stored bytes from `start` to `end`. */
  read(sessionId: string, start?: number, end?: number): AsyncIterable<Uint8Array>;
  /** At most about `limit` characters of the change that the session would make now. */
  diff(sessionId: string, limit?: number): Promise<UploadDiff>;
}

export type BeginUploadOptions = {
  readonly sessionId?: string;
  /** The id is not in use: what an earlier call may have begun is not looked for. */
  readonly isNew?: boolean;
  readonly projectId?: string;
};

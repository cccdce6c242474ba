import type { EditLocation } from './edit-location.ts';
import type { JsonObject } from './json.ts';
import type { Message } from './messages.ts';
import type { SessionQuestion } from './session-question.ts';
import type { Mode } from './tools.ts';
import type { TextRepair } from './validation.ts';

/** How a write session changes its target. */
export type WriteOperation = 'create' | 'overwrite' | 'append' | 'insert' | 'replace';

export const WRITE_OPERATIONS: readonly WriteOperation[] = [
  'create',
  'overwrite',
  'append',
  'insert',
  'replace',
];

/** Write plans have one more operation. A session streams a block and cannot find and replace. */
export type PlanOperationType = WriteOperation | 'replace_all';

/** The states of a write session, as in `state.json`, status output and traces. */
export type SessionStateName =
  | 'idle'
  | 'session_active.awaiting_content'
  | 'session_active.awaiting_done_or_more_content'
  | 'session_active.awaiting_answer'
  | 'session_active.finalizing'
  | 'session_active.needs_corrections'
  | 'session_active.paused'
  | 'done'
  | 'aborted';

/** `metadata.json`: what the model asked for. Written once, at begin. */
export type SessionMetadata = {
  readonly version: 1;
  readonly session_id: string;
  readonly intent: string;
  readonly target_file: string;
  readonly operation: WriteOperation;
  /** Where the text goes, for insert and replace, and only for them. */
  readonly location?: EditLocation;
  /** ISO-8601, UTC. */
  readonly created_at: string;
  /** The line that always ends the content. */
  readonly end_marker: string;
  /** False: the one line ending before the marker does not belong to the file. */
  readonly final_newline: boolean;
  /** For append: an unterminated last line of the file gets a line ending before the text. */
  readonly start_on_new_line?: true;
  /**
   * For create and overwrite: blank lines before the first line belong to the file, either on request or because the
   * replaced file begins with one.
   */
  readonly keep_leading_blank_lines?: true;
  /**
   * A program uploads the text as bytes and says when it is complete. No line of it is a marker, nothing of it is left
   * out, and no model continues it.
   */
  readonly uploaded?: true;
  /** The target as it was at begin. */
  readonly target: TargetSnapshot;
};

/** Where two messages were joined. */
export type Seam = {
  /** The line, counted from 1, at which the joined text begins: of the content, or in a receipt, of the file. */
  readonly line: number;
  readonly status: 'verified' | 'unverified';
  readonly via: 'anchor' | 'restart' | 'tail' | 'prefill' | 'bridge' | 'recovery';
  /** Repeated lines of the reply that were left out. */
  readonly lines_dropped: number;
  /** Characters of the reply, such as a polite sentence or a fence, that were set aside. */
  readonly text_set_aside: number;
  readonly conversion: 'none' | 'lf_to_crlf' | 'crlf_to_lf';
};

/**
 * The part of `state.json` that the session reducer owns. The store adds `buffer_size`, `line_count`,
 * `last_save`, the name of the content file and `writing`.
 */
export type SessionRecord = {
  readonly version: 1;
  readonly state: SessionStateName;
  readonly question?: SessionQuestion;
  /** The part of the content file, in bytes, that belongs to the file, if not all of it does. */
  readonly content_start?: number;
  readonly content_end?: number;
  readonly fence_stripped: boolean;
  readonly fence_asked: boolean;
  /** The model was asked about its first words, and said that they are not part of the file. */
  readonly lead_asked?: boolean;
  readonly lead_dropped?: boolean;
  /** `cut_off`: the last message with content was cut. `ended_by_done`: its own DONE ended the text. */
  readonly cut_off?: boolean;
  readonly ended_by_done?: boolean;
  /** A reply that repeated the whole document replaced the saved text. */
  readonly started_over?: boolean;
  /** The model was asked about omitted text. */
  readonly omissions_asked?: boolean;
  /** Absent while nothing invalid was found. */
  readonly repair?: TextRepair;
  /** The end of the text is known from a marker or an answer. Left out by older versions. */
  readonly has_ended?: boolean;
  /** Lines of the content file, counted from 1. */
  readonly inner_done_lines: readonly number[];
  /** Bytes of the content in which no DONE line is still in question. Defaults to 0. */
  readonly ends_settled?: number;
  /** For a think block at the start of the content: whether it was set aside or kept as part of the file. */
  readonly thinking?: 'set_aside' | 'kept';
  /** Blank lines before the first line. Defaults to 0. */
  readonly leading_blank_lines_dropped?: number;
  readonly seams: readonly Seam[];
  readonly idle_prompts: number;
  /** Why the session is paused. */
  readonly code?: string;
};

/** `writing` in `state.json`: a commit that has begun and has no recorded outcome yet. */
export type WritingRecord = {
  /** The temporary file, relative to the workspace root. */
  readonly temp: string;
  /** The file that changes, relative to the workspace root. Defaults to the session's target. */
  readonly target?: string;
  /** SHA-256 of the target before; null if there was no file. */
  readonly before: string | null;
  readonly after: string;
  /** A recovery found that the target had this text once, and that somebody has changed it since. */
  readonly stands?: true;
  /** Line feeds of the file before the session's text. Defaults to 0. */
  readonly lines_before?: number;
  /** What to report if the commit happens and its process dies before reporting it. */
  readonly result: CommitResult;
};

/** What became of a commit that had begun. */
export type WritingOutcome =
  /** It did not happen, and the target is what it was. */
  | 'before'
  /** It happened. */
  | 'after'
  /** It happened, and somebody changed the target since: the same text must not be added again. */
  | 'changed_after'
  /** It did not happen, and somebody changed the target. */
  | 'changed_instead';

/** `turn.json`: what a recovery in a new process needs to know about the turn. No keys and no file content. */
export type TurnRecord = {
  readonly version: 1;
  readonly requestId: string;
  readonly projectId: string;
  readonly conversationId: string;
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
  readonly protocol: string;
  readonly mode: Mode;
  /** Begin's call, whose tool message becomes the receipt. */
  readonly callId: string;
  /** The history up to and with begin's tool message. */
  readonly messages: readonly Message[];
  readonly options: JsonObject;
};

/** What a commit reports about the file. */
export type CommitResult = {
  readonly path: string;
  /**
   * Bytes and lines (line feeds, plus one for an unterminated last line) of the new text on disk; for append, of the
   * added part.
   */
  readonly bytes: number;
  readonly lines: number;
  /** Of the whole file after the commit. */
  readonly sha256: string;
  readonly eol: LineEnding;
  readonly bom: boolean;
  /** Permission bits in octal, such as `0644`. */
  readonly mode: string;
  /** The id of this change for undo. Missing only if no record could be kept, which is a warning. */
  readonly backup_id?: string;
  /** The absolute path of the previous bytes, if there was a file. */
  readonly backup_path?: string;
  readonly warnings: readonly string[];
  /** Properties of the old file that the new one does not have. */
  readonly not_kept: readonly string[];
};

export type LineEnding = 'lf' | 'crlf' | 'mixed' | 'none';

/** What validation found and did, without any of the content. */
export type ValidationSummary = {
  /** Rounds in which the model was asked. */
  readonly attempts: number;
  readonly invalid_found: number;
  /** Places that the model's answers corrected, and places that became U+FFFD. */
  readonly corrected: number;
  readonly replaced: number;
  readonly used_safe_replacement: boolean;
  /** The first 1000 replaced places: lines of the file, and byte offsets of the received text. */
  readonly replaced_at?: readonly {
    readonly line: number;
    readonly column: number;
    readonly byte_offset: number;
  }[];
  /** The first 20 lines of the file that look like placeholders for omitted text. */
  readonly omission_suspected?: readonly number[];
  /** Invisible characters in code; in other text only those that could carry a hidden message (B16). */
  readonly hidden_characters?: number;
  /** The first 20 of them. */
  readonly hidden_at?: readonly { readonly line: number; readonly code_point: string }[];
  /** The length in bytes of the text as first validated, and as written. */
  readonly original_length: number;
  readonly final_length: number;
};

/** What was written. Nothing else is evidence that a file was written. Contains no content. */
export type WriteReceipt = Omit<CommitResult, 'path'> & {
  readonly session_id: string;
  readonly target_file: string;
  readonly operation: WriteOperation;
  readonly persistence: 'disk' | 'memory';
  readonly fence_stripped: boolean;
  /** Words before the file, which only announced it, were left out. */
  readonly lead_dropped?: true;
  /** A think block before the file was left out. */
  readonly thinking_set_aside?: true;
  /** The number of blank lines before the first line that were left out. */
  readonly leading_blank_lines_dropped?: number;
  /** The last line had no line ending and got one. */
  readonly final_newline_added?: true;
  /** Lines of the file as it is now, counted from 1. */
  readonly inner_done_lines: readonly number[];
  /** Where text that does not belong to the file was saved. */
  readonly trailing?: string;
  readonly seams: readonly Seam[];
  readonly validation_summary: ValidationSummary;
};

/** A target as the path policy found it: resolved, allowed, and hashed if it exists. */
export type TargetSnapshot = {
  /** Relative to the workspace root, with `/` between its parts. */
  readonly path: string;
  /** The file that is read or replaced, with symbolic links resolved. */
  readonly realPath: string;
  readonly exists: boolean;
  /** Null if there is no file. */
  readonly sha256: string | null;
  readonly bytes: number;
  /** Permission bits; 0 if there is no file. */
  readonly mode: number;
  readonly eol: LineEnding;
  /** Whether the file begins with a UTF-8 byte order mark. */
  readonly bom: boolean;
  /** What the file is, if it is not UTF-8. */
  readonly encoding?: ForeignEncoding;
  /** It is not empty and does not end with a line feed. */
  readonly unterminated?: true;
  /** Its first line is empty or blank. */
  readonly beginsBlank?: true;
  /** What had to be allowed explicitly. A process that opens the target later needs the same permission. */
  readonly allowed?: AllowedTarget;
};

/**
 * The kind of a file that is not UTF-8, judged by its bytes. `8-bit` is any ASCII-compatible encoding, such as
 * Latin-1 or Shift-JIS. `binary` contains NUL and is not recognised as UTF-16 or UTF-32.
 */
export type ForeignEncoding =
  | 'utf-16le'
  | 'utf-16be'
  | 'utf-32le'
  | 'utf-32be'
  | 'binary'
  | '8-bit';

export type AllowedTarget = {
  /** The protected paths by which it was reached. */
  readonly paths: readonly string[];
  /** It has more than one hard link. */
  readonly hardLink: boolean;
};

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

/** A write plan knows one more: the session of a model streams a block, and has nothing to find and replace. */
export type PlanOperationType = WriteOperation | 'replace_all';

/** The states of a write session as they stand in `state.json`, in status output and in traces. */
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
  /** The line that ends the content wherever it stands. */
  readonly end_marker: string;
  /** False: the one line ending before the marker does not belong to the file. */
  readonly final_newline: boolean;
  /** For append: a last line of the file that has no line ending gets one before the text. */
  readonly start_on_new_line?: true;
  /**
   * For create and overwrite: blank lines before the first line belong to the file. Somebody asked for it, or the file
   * that is replaced begins with one itself.
   */
  readonly keep_leading_blank_lines?: true;
  /** The target as it was at begin. */
  readonly target: TargetSnapshot;
};

/** Where two messages were joined. */
export type Seam = {
  /** The line, counted from 1, at which the joined text begins: of the content, in a receipt of the file. */
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
  /** Bytes of the content file that belong to the file, when not all of them do. */
  readonly content_start?: number;
  readonly content_end?: number;
  readonly fence_stripped: boolean;
  readonly fence_asked: boolean;
  /** The model was asked about its first words, and said that they are not part of the file. */
  readonly lead_asked?: boolean;
  readonly lead_dropped?: boolean;
  /** The last message with content did not come to its end, and a DONE of its own ended the text. */
  readonly cut_off?: boolean;
  readonly ended_by_done?: boolean;
  /** A reply that was the document again has replaced what was saved before. */
  readonly started_over?: boolean;
  /** The model was asked about left-out text. */
  readonly omissions_asked?: boolean;
  /** Absent while nothing invalid was found. */
  readonly repair?: TextRepair;
  /** The end of the text is known: a marker came, or an answer said where it is. Left out by older versions. */
  readonly has_ended?: boolean;
  /** Lines of the content file, counted from 1. */
  readonly inner_done_lines: readonly number[];
  /** Bytes of the content in which no DONE line is open to question any more; 0 when left out. */
  readonly ends_settled?: number;
  /** A think block that opens the content, and whether the file begins behind it or with it. */
  readonly thinking?: 'set_aside' | 'kept';
  /** Blank lines before the first line; 0 when left out. */
  readonly leading_blank_lines_dropped?: number;
  readonly seams: readonly Seam[];
  readonly idle_prompts: number;
  /** Why the session is paused. */
  readonly code?: string;
};

/** `writing` in `state.json`: a commit that has begun and whose outcome is not yet recorded. */
export type WritingRecord = {
  /** The temporary file, relative to the workspace root. */
  readonly temp: string;
  /** The file that changes, relative to the workspace root; the session's own target when left out. */
  readonly target?: string;
  /** Hash of the target's bytes before, null when there was no file. */
  readonly before: string | null;
  readonly after: string;
  /** The session's own target had this text once: a recovery found that out, and somebody changed it since. */
  readonly stands?: true;
  /** Line feeds of the file before the session's text; 0 when left out. */
  readonly lines_before?: number;
  /** What is reported of it, when it happens and its process does not live to tell. */
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

/** `turn.json`: what a recovery in a new process needs to know of the turn. No keys, no file content. */
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

/** What a commit reports of the file. */
export type CommitResult = {
  readonly path: string;
  /**
   * Bytes and lines (line feeds, plus one for an unterminated last line) that are new, as they stand on disk: for append
   * the added part.
   */
  readonly bytes: number;
  readonly lines: number;
  /** Of the whole file after the commit. */
  readonly sha256: string;
  readonly eol: LineEnding;
  readonly bom: boolean;
  /** Permission bits in octal, such as `0644`. */
  readonly mode: string;
  /** What undo calls this change; missing only when no record of it could be kept, which a warning says. */
  readonly backup_id?: string;
  /** Absolute; the previous bytes, when there was a file. */
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
  /** Where the first 1000 replaced places stand: lines of the file, and bytes of the text that came. */
  readonly replaced_at?: readonly {
    readonly line: number;
    readonly column: number;
    readonly byte_offset: number;
  }[];
  /** Lines of the file that look as if something was left out there, the first 20. */
  readonly omission_suspected?: readonly number[];
  /** Characters that a reader does not see, in code; in other text only those that carry a hidden message (B16). */
  readonly hidden_characters?: number;
  /** The first 20 of them. */
  readonly hidden_at?: readonly { readonly line: number; readonly code_point: string }[];
  /** In bytes: the text as it was validated first, and as it was written. */
  readonly original_length: number;
  readonly final_length: number;
};

/** What was written, and the only ground on which anything says that a file was written. No content. */
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
  /** So many blank lines before the first line were left out. */
  readonly leading_blank_lines_dropped?: number;
  /** The last line had no line ending and got one. */
  readonly final_newline_added?: true;
  /** Lines of the file as it is now, counted from 1. */
  readonly inner_done_lines: readonly number[];
  /** Where text that did not belong to the file was kept. */
  readonly trailing?: string;
  readonly seams: readonly Seam[];
  readonly validation_summary: ValidationSummary;
};

/** A target as the path policy saw it: resolved, allowed, and hashed when it exists. */
export type TargetSnapshot = {
  /** Relative to the workspace root, with `/` between its parts. */
  readonly path: string;
  /** The resolved file that is read or replaced, behind any symbolic link. */
  readonly realPath: string;
  readonly exists: boolean;
  /** Null when there is no file. */
  readonly sha256: string | null;
  readonly bytes: number;
  /** Permission bits, 0 when there is no file. */
  readonly mode: number;
  readonly eol: LineEnding;
  /** Whether the file begins with a byte order mark of UTF-8. */
  readonly bom: boolean;
  /** What it is where it is not UTF-8. */
  readonly encoding?: ForeignEncoding;
  /** It has bytes, and the last of them is no line feed. */
  readonly unterminated?: true;
  /** Its first line is empty, or has nothing but blanks. */
  readonly beginsBlank?: true;
  /** What somebody had to allow; a process that opens the target later needs the same yes again. */
  readonly allowed?: AllowedTarget;
};

/**
 * What a file is that is not UTF-8, as far as its bytes tell. `8-bit` is any encoding in which ASCII stands for itself,
 * such as Latin-1 or Shift-JIS; `binary` has NUL, and is no UTF-16 or UTF-32 that could be recognised.
 */
export type ForeignEncoding =
  | 'utf-16le'
  | 'utf-16be'
  | 'utf-32le'
  | 'utf-32be'
  | 'binary'
  | '8-bit';

export type AllowedTarget = {
  /** The protected names under which it was reached. */
  readonly paths: readonly string[];
  /** It has more than one name. */
  readonly hardLink: boolean;
};

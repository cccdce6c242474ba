import type { ApprovalAction, ApprovalOutcome } from './approvals.ts';
import type { ErrorInfo } from './errors.ts';
import type { Usage } from './llm.ts';
import type { ToolCall } from './tool-call.ts';
import type { ToolProgress } from './tools.ts';
import type { InvalidPlace } from './validation.ts';
import type { Seam, SessionStateName, WriteOperation, WriteReceipt } from './write-session.ts';

export type TurnStatus = 'complete' | 'incomplete' | 'stopped' | 'paused' | 'aborted' | 'error';

export type StopReason =
  | 'progress'
  | 'duplicates'
  | 'ceiling'
  | 'time'
  | 'tokens'
  | 'max_turns'
  | 'max_seconds'
  | 'max_tokens'
  | 'cancelled'
  | 'provider_error'
  | 'invalid_output';

/** The fields of every event. */
export type RunEventBase = {
  /** 1, 2, 3 … within the turn. */
  readonly seq: number;
  /** The turn's id. */
  readonly requestId: string;
  readonly projectId: string;
  readonly conversationId: string;
  readonly protocol: string;
  readonly phase: 'action' | 'tool' | 'complete';
  readonly phaseIndex: number;
  readonly cycleIndex: number;
};

/**
 * The public event stream of a turn: the same in the library, on the command line and over HTTP. Plain JSON.
 *
 * Order: events are sent as they happen. A write session begins with `write_session` (awaiting content), continues
 * with `write_chunk`s at growing offsets and occasional `write_rewind`s, and sends `write_session` again at every
 * change of its status. The last one carries the receipt or a code. `error` may occur anywhere. Every turn ends with
 * exactly one `done`, and nothing follows it.
 */
export type RunEventBody =
  | { readonly type: 'phase'; readonly phase: 'action' | 'tool'; readonly index: number }
  /** Text for the user: the model's own, or a notice from the runtime. Never file content. */
  | { readonly type: 'chunk'; readonly content: string; readonly source: 'model' | 'notice' }
  /**
   * Text that was captured as file content. `offset` and `length` are in bytes. `content` is null once it is no
   * longer stored.
   */
  | {
      readonly type: 'write_chunk';
      readonly sessionId: string;
      readonly offset: number;
      readonly length: number;
      readonly content: string | null;
      /** Bytes of the content that were durable when this was sent. */
      readonly durableBytes?: number;
    }
  /**
   * What is safe of a session's text has changed without new text: after a stall. Also when the disk has taken nothing
   * for a second, whether text arrives or not: `savedBytes` are then fewer than `receivedBytes`. At most four a second. `receivedBytes` are in memory at least, `savedBytes` survive the end of the process,
   * `durableBytes` a power cut.
   */
  | {
      readonly type: 'write_progress';
      readonly sessionId: string;
      readonly receivedBytes: number;
      readonly savedBytes: number;
      readonly durableBytes: number;
      readonly lines: number;
    }
  /**
   * The turn waits for a person. A question that is stored, and can be decided elsewhere, has a time at which it
   * expires, and `hash` is what a decision names. One without is put where the turn runs, as on a terminal.
   */
  | {
      readonly type: 'approval_requested';
      readonly approvalId: string;
      /** The call that waits, of a command or a tool. */
      readonly callId?: string;
      /** The session that waits. */
      readonly sessionId?: string;
      readonly action: ApprovalAction;
      readonly hash: string;
      /** Milliseconds since the epoch. Then it counts as a no. */
      readonly expiresAt?: number;
    }
  /** Once for each that was requested, unless the turn ended before. */
  | {
      readonly type: 'approval_decided';
      readonly approvalId: string;
      readonly decision: ApprovalOutcome;
      readonly reason?: string;
    }
  /**
   * Another process continues the turn and asks the model again: the text of the model after the event `toSeq` is
   * void, but for text that a call or a write session followed. Everything else that was reported has happened.
   */
  | { readonly type: 'rewind'; readonly toSeq: number }
  /** The text after `toOffset` (bytes) turned out not to belong to the file. */
  | { readonly type: 'write_rewind'; readonly sessionId: string; readonly toOffset: number }
  | {
      readonly type: 'tool_calls';
      readonly calls: readonly Pick<ToolCall, 'id' | 'name' | 'arguments'>[];
    }
  /** How far a running call has come: `done` of `total`, where the tool knows them. At most five a second. */
  | ({
      readonly type: 'tool_progress';
      readonly callId: string;
      readonly toolName: string;
    } & ToolProgress)
  | {
      readonly type: 'tool_result';
      readonly callId: string;
      readonly toolName: string;
      readonly ok: boolean;
      readonly summary: string;
      /** Why the call failed or was refused, with the next step. */
      readonly error?: ErrorInfo;
      /** The id of the stored output, where the result was too large for the model. */
      readonly outputRef?: string;
    }
  | {
      readonly type: 'write_session';
      readonly sessionId: string;
      readonly status: SessionStateName;
      readonly targetFile: string;
      readonly operation: WriteOperation;
      /** Content so far. */
      readonly bytes: number;
      readonly lines: number;
      /** Bytes that are durable on the disk. */
      readonly durableBytes: number;
      /** It was begun by an earlier turn, or by a process that is gone, and is continued here. */
      readonly recovered?: true;
      /** Text was joined: where, and what was left out. */
      readonly seam?: Seam;
      readonly receipt?: WriteReceipt;
      /** While corrections are needed: what the model is asked to correct. */
      readonly corrections?: RunCorrections;
      readonly code?: string;
      readonly paused?: PausedSession;
    }
  | ({ readonly type: 'usage' } & Usage)
  | { readonly type: 'error'; readonly error: ErrorInfo }
  | {
      readonly type: 'done';
      /** All model text of the turn in order, without notices and file content. */
      readonly fullContent: string;
      readonly status: TurnStatus;
      /** Why this protocol was chosen. */
      readonly protocolReason: string;
      readonly stopReason?: StopReason;
    };

/** On a `phase` event, the event's own `phase` and the base's are the same. */
export type RunEvent = RunEventBody & RunEventBase;

/** Invalid places in what was written, without the text around them. */
export type RunCorrections = {
  /** Counted from 1. */
  readonly attempt: number;
  readonly max_attempts: number;
  /** The number found at first. `places` are those of this round. */
  readonly invalid_found: number;
  readonly places: readonly Omit<InvalidPlace, 'context'>[];
};

/** A write session that waits for the user, and the commands that continue it. */
export type PausedSession = {
  readonly session_id: string;
  readonly target_file: string;
  readonly operation: WriteOperation;
  readonly code: string;
  readonly lines: number;
  readonly bytes: number;
  readonly session_dir: string;
  /**
   * Where the whole text is if the session's own directory cannot hold it: a file in a private folder inside the
   * system's temporary folder.
   */
  readonly rescued_text?: string;
  readonly commands: readonly string[];
};

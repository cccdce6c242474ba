import type { ErrorInfo } from './errors.ts';
import type { Usage } from './llm.ts';
import type { ToolCall } from './tools.ts';
import type { InvalidPlace } from './validation.ts';
import type { SessionStateName, WriteOperation, WriteReceipt } from './write-session.ts';

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

/** Stands on every event. */
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
 * The one public stream of a turn: the same in the library, on the command line and over HTTP. Plain JSON.
 *
 * Order: events come as they happen. A write session is `write_session` (awaiting content), `write_chunk`s with
 * growing offsets and now and then a `write_rewind`, and `write_session` again at every change of its status; the
 * last one carries the receipt or a code. `error` may stand anywhere. Exactly one `done` ends every turn, on every
 * path, and nothing follows it.
 */
export type RunEventBody =
  | { readonly type: 'phase'; readonly phase: 'action' | 'tool'; readonly index: number }
  /** Text for the person: the model's own, or a notice of the runtime. Never file content. */
  | { readonly type: 'chunk'; readonly content: string; readonly source: 'model' | 'notice' }
  /** Text that was captured as file content. `offset` and `length` are bytes; `content` is null once it is gone. */
  | {
      readonly type: 'write_chunk';
      readonly sessionId: string;
      readonly offset: number;
      readonly length: number;
      readonly content: string | null;
    }
  /** The text after `toOffset` (bytes) turned out not to belong to the file. */
  | { readonly type: 'write_rewind'; readonly sessionId: string; readonly toOffset: number }
  | {
      readonly type: 'tool_calls';
      readonly calls: readonly Pick<ToolCall, 'id' | 'name' | 'arguments'>[];
    }
  | {
      readonly type: 'tool_result';
      readonly callId: string;
      readonly toolName: string;
      readonly ok: boolean;
      readonly summary: string;
      /** Why the call failed or was refused, with the next step. */
      readonly error?: ErrorInfo;
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
      readonly receipt?: WriteReceipt;
      /** While corrections are needed: what the model is asked about. */
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

/** The event's own `phase` wins over the base's: on a `phase` event they are the same. */
export type RunEvent = RunEventBody & RunEventBase;

/** Invalid places in what was written, without the text around them. */
export type RunCorrections = {
  /** Counted from 1. */
  readonly attempt: number;
  readonly max_attempts: number;
  /** All that were found at first; the places below are those of this round. */
  readonly invalid_found: number;
  readonly places: readonly Omit<InvalidPlace, 'context'>[];
};

/** A write session that waits for a person: what it is and the commands that go on with it. */
export type PausedSession = {
  readonly session_id: string;
  readonly target_file: string;
  readonly operation: WriteOperation;
  readonly code: string;
  readonly lines: number;
  readonly bytes: number;
  readonly session_dir: string;
  /**
   * Where all of the text is when the session's own directory cannot hold it: a file in a private folder in the system's
   * temporary folder.
   */
  readonly rescued_text?: string;
  readonly commands: readonly string[];
};

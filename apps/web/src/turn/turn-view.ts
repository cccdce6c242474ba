import type {
  ApprovalOutcome,
  ErrorInfo,
  PausedSession,
  RunCorrections,
  Seam,
  SessionStateName,
  StopReason,
  TurnStatus,
  Usage,
  WriteOperation,
  WriteReceipt,
} from '@orion/contracts';

/** What the page knows of one turn: exactly what follows from the events so far. Without the text of files. */
export type TurnView = {
  readonly requestId: string | null;
  readonly projectId: string | null;
  readonly conversationId: string | null;
  /** The number of the last event that was taken; 0 if there is none. */
  readonly lastSeq: number;
  /** In the order in which they began. */
  readonly items: readonly TurnItem[];
  readonly sessions: ReadonlyMap<string, SessionView>;
  readonly usage: Usage;
  /** Null until `done`. */
  readonly end: TurnEnd | null;
};

export type TurnEnd = { readonly status: TurnStatus; readonly stopReason: StopReason | null };

export type TurnItem = TextItem | CallItem | SessionItem | ApprovalItem | ErrorItem | RawItem;

export type TextItem = {
  readonly kind: 'text';
  readonly seq: number;
  readonly source: 'model' | 'notice';
  readonly pieces: readonly Piece[];
  /** A process that took the turn over had the model say it again. */
  readonly isVoid: boolean;
};

export type Piece = { readonly seq: number; readonly text: string };

export type CallItem = {
  readonly kind: 'call';
  readonly seq: number;
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly progress: string | null;
  /** Null while the call has no result. */
  readonly result: CallResult | null;
};

export type CallResult = {
  readonly ok: boolean;
  readonly summary: string;
  readonly error: ErrorInfo | null;
  readonly outputRef: string | null;
};

export type SessionItem = {
  readonly kind: 'session';
  readonly seq: number;
  readonly sessionId: string;
};
export type ApprovalItem = {
  readonly kind: 'approval';
  readonly seq: number;
  readonly approvalId: string;
  /** The session that waits for it. */
  readonly sessionId: string | null;
  /** Null while it waits. */
  readonly outcome: ApprovalOutcome | null;
};
export type ErrorItem = { readonly kind: 'error'; readonly seq: number; readonly error: ErrorInfo };
/** An event of a type that this page does not know. */
export type RawItem = {
  readonly kind: 'raw';
  readonly seq: number;
  readonly type: string;
  readonly json: string;
};

export type SessionView = {
  readonly sessionId: string;
  readonly status: SessionStateName;
  readonly targetFile: string;
  readonly operation: WriteOperation | null;
  /** Bytes of the text so far, and how many of them the disk has confirmed: neither a kill nor a power cut takes these. */
  readonly received: number;
  readonly synced: number;
  /** How many of them outlive the end of the process. Null while no event has said so. */
  readonly saved: number | null;
  /** Text has stayed in memory although none came: the disk does not take it. */
  readonly isHeldUp: boolean;
  /** An earlier turn, or a process that is gone, has left it. */
  readonly isRecovered: boolean;
  /** Null while more has come than was counted. */
  readonly lines: number | null;
  readonly seams: readonly Seam[];
  /** Text that turned out not to belong to the file: how much, and where it began. */
  readonly setAside: readonly { readonly at: number; readonly bytes: number }[];
  readonly corrections: RunCorrections | null;
  readonly code: string | null;
  /** The approval that it waits for. */
  readonly pendingApproval: string | null;
  readonly paused: PausedSession | null;
  readonly receipt: WriteReceipt | null;
};

/** The model's or the runtime's words of an item. */
export function textOf(item: TextItem): string {
  return item.pieces.length === 1
    ? (item.pieces[0]?.text ?? '')
    : item.pieces.map((piece) => piece.text).join('');
}

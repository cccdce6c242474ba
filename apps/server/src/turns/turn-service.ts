import type {
  RequestKey,
  ServedTurn,
  ServedTurnState,
  TurnLog,
  TurnSubmission,
} from '@orion/contracts';

/** What routes do with turns. Nothing runs inside of these calls: a turn is stored, and its queue has it run. */
export interface TurnService {
  /**
   * Stores a turn, or finds the one that was made with the same key (`isRepeat`). Rejects with CONVERSATION_BUSY,
   * CONVERSATION_NOT_FOUND (it belongs to another project), IDEMPOTENCY_MISMATCH, PROJECT_NOT_FOUND,
   * PROTOCOL_UNSUPPORTED, SERVER_STOPPING and STORE_UNAVAILABLE.
   */
  submit(
    submission: TurnSubmission,
    key: RequestKey | null,
  ): Promise<{ readonly turn: ServedTurn; readonly isRepeat: boolean }>;
  /** Null for a turn that was never submitted, such as one of a command. */
  find(turnId: string): Promise<ServedTurn | null>;
  /** Newest first, at most `limit`; `before` is the id of a turn, and an unknown one finds nothing. */
  list(filter: {
    readonly state?: ServedTurnState;
    readonly projectId?: string;
    readonly limit: number;
    readonly before?: string;
  }): Promise<readonly ServedTurn[]>;
  /** `requested`: its `done` usually follows within a second, or has just been stored. */
  cancel(turnId: string): Promise<'requested' | 'finished' | 'unknown'>;
  /** Reads what is stored, of any turn. */
  readonly log: Pick<TurnLog, 'read' | 'follow'>;
}

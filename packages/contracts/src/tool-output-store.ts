import type { JsonValue } from './json.ts';

export type ToolOutputRecord = {
  /** The execution's id: letters, digits, `_` and `-`, at most 128. */
  readonly id: string;
  readonly tool_name: string;
  readonly conversation_id: string;
  readonly message_id: string;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly success: boolean;
  readonly parameters: JsonValue;
  readonly output: JsonValue;
};

export type ToolOutputFilter = {
  readonly conversation_id?: string;
  readonly tool_name?: string;
  readonly success?: boolean;
  /** Milliseconds since the epoch, exclusive. */
  readonly after?: number;
  readonly before?: number;
  readonly order?: 'newest' | 'oldest';
  /** 1 to 100; defaults to 20. */
  readonly limit?: number;
  readonly offset?: number;
};

/** Stores tool results that are too large for a conversation. Rejects invalid ids with INVALID_OUTPUT_ID. */
export interface ToolOutputStore {
  put(record: ToolOutputRecord): Promise<void>;
  get(id: string): Promise<ToolOutputRecord | null>;
  /** Damaged records are left out and counted. */
  list(filter: ToolOutputFilter): Promise<{
    readonly records: readonly ToolOutputRecord[];
    readonly total: number;
    readonly damaged: number;
  }>;
}

import type { JsonValue } from './json.ts';

/** What is known of a stored output without its text. */
export type StoredToolOutput = {
  /** The execution's id: letters, digits, `_` and `-`, at most 128. */
  readonly id: string;
  /** Empty for an output of a conversation that is not stored. */
  readonly project_id: string;
  readonly tool_name: string;
  readonly conversation_id: string;
  /** Of the message that the turn answered: its request's id, which the turn's events and traces have, too. */
  readonly message_id: string;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly success: boolean;
  /** Of its JSON text, in UTF-8. */
  readonly bytes: number;
  /** Of its JSON text, in code points. */
  readonly characters: number;
  /** It was too large: what is stored is a text, the beginning of its own. */
  readonly cut: boolean;
  /** The first 500 code points of its JSON text. */
  readonly preview: string;
};

export type ToolOutputRecord = Pick<
  StoredToolOutput,
  'id' | 'project_id' | 'tool_name' | 'conversation_id' | 'message_id' | 'created_at' | 'success'
> & {
  readonly parameters: JsonValue;
  /** The JSON text of the output. */
  readonly output: string;
};

export type ToolOutputFilter = {
  readonly project_id?: string;
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

/**
 * Stores tool results that are too large for a conversation. Rejects invalid ids with INVALID_OUTPUT_ID, and the id of an
 * output that was removed for its age or for room with OUTPUT_EXPIRED.
 */
export interface ToolOutputStore {
  /** Stores at most 16 MiB of an output, and says in the record when that was not all. */
  put(record: ToolOutputRecord): Promise<StoredToolOutput>;
  /** Null if there is none. */
  find(id: string): Promise<StoredToolOutput | null>;
  /** The parameters and the JSON text of the output, as stored: nothing is parsed. Null if there is none. */
  read(id: string): Promise<{ readonly parameters: string; readonly output: string } | null>;
  /** No texts are read. Damaged records are left out and counted. */
  list(filter: ToolOutputFilter): Promise<{
    readonly outputs: readonly StoredToolOutput[];
    readonly total: number;
    readonly damaged: number;
  }>;
}

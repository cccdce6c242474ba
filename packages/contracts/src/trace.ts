import type { JsonValue } from './json.ts';

/** One milestone of a turn. No file content, no text chunks; `details` may be any value, safe JSON or not. */
export type TraceInput = {
  readonly type: string;
  readonly projectId?: string;
  readonly requestId?: string;
  readonly sessionId?: string;
  readonly source?: string;
  readonly summary?: string;
  readonly direction?: 'in' | 'out';
  readonly toolName?: string;
  readonly phaseIndex?: number;
  readonly cycleIndex?: number;
  readonly details?: unknown;
  readonly error?: unknown;
  readonly metadata?: unknown;
  /** Milliseconds since the epoch. Defaults to the store's clock. */
  readonly timestamp?: number;
};

/** A stored event. `raw` is the exact JSON text of the made-safe `details`; see the store for the projection. */
export type TraceEvent = {
  readonly [Key in Exclude<keyof TraceInput, keyof StoredFields>]-?:
    | Required<TraceInput>[Key]
    | null;
} & StoredFields;

type StoredFields = {
  readonly id: number;
  readonly type: string;
  readonly timestamp: number;
  readonly details: JsonValue;
  readonly error: JsonValue;
  readonly metadata: JsonValue;
  readonly raw: string;
  readonly truncated: boolean;
};

export type TraceFilter = {
  readonly projectId?: string;
  readonly requestId?: string;
  readonly sessionId?: string;
  readonly type?: string;
  /** Milliseconds since the epoch, both inclusive. */
  readonly from?: number;
  readonly to?: number;
  /** Numbers of events, both exclusive. */
  readonly afterId?: number;
  readonly beforeId?: number;
  /** The last ones, as many as that. */
  readonly limit?: number;
};

/** The recording half of a trace store: never throws and never makes the caller wait. */
export interface TraceRecorder {
  record(event: TraceInput): void;
  record(type: string, data?: unknown): void;
}

export interface TraceStore extends TraceRecorder {
  /** The events of one turn in the order in which they were recorded. */
  getTrace(requestId: string): Promise<readonly TraceEvent[]>;
  query(filter: TraceFilter): Promise<readonly TraceEvent[]>;
  /**
   * All matching events in recording order, read a page at a time so that memory stays small. Events recorded after
   * the first one was read are not included.
   */
  scan(filter: Omit<TraceFilter, 'limit'>): AsyncIterable<TraceEvent>;
  /** Events that could not be kept. */
  dropped(): number;
  /** Waits until everything recorded so far is stored. */
  flush(): Promise<void>;
  /** Waits briefly for pending events, at most until `cut` is aborted. The rest count as dropped. */
  close(cut?: AbortSignal): Promise<void>;
}

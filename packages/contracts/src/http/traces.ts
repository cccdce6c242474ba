import type { TraceEvent } from '../trace.ts';

/** `GET /api/traces`: the turns that were recorded or, with `requestId`, the events of one. */
export type TracesQuery = {
  readonly requestId?: string;
  /** Of the list of turns. */
  readonly projectId?: string;
  readonly limit?: number;
  /** `next` of an earlier list of turns. */
  readonly before?: number;
  /** `next` of earlier events of one turn. */
  readonly after?: number;
};

/** A turn as its traces show it. */
export type TracedTurn = {
  readonly requestId: string;
  readonly projectId: string | null;
  /** What it was about, such as a message or a recovery. */
  readonly task: string | null;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Null while it runs, or when its process died. */
  readonly status: string | null;
  readonly durationMs: number | null;
};

/** Newest first. */
export type TracedTurnsAnswer = {
  readonly turns: readonly TracedTurn[];
  readonly next: number | null;
};

/** What a list has of an event; its details are read one at a time. */
export type TracedEvent = Omit<TraceEvent, 'details' | 'error' | 'metadata' | 'raw'> & {
  readonly hasError: boolean;
};

/** In the order in which they were recorded. */
export type TraceAnswer = {
  readonly requestId: string;
  readonly events: readonly TracedEvent[];
  readonly next: number | null;
};

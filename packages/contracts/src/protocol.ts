import type { ErrorInfo } from './errors.ts';
import type { FinishReason, LlmAdapter, Usage } from './llm.ts';
import type { Message } from './messages.ts';
import type { StopReason } from './run-event.ts';
import type { Mode, ToolCall, ToolRegistry, ToolResult } from './tools.ts';
import type { TraceRecorder } from './trace.ts';

export type ProtocolName = 'standard' | 'two-stage' | 'controller';

/**
 * What one turn remembers between the runs of its protocol. The turn driver makes it and hands the same object
 * to every run, so that a content stage in between costs neither an iteration nor a phase count.
 */
export type TurnState = {
  /** Model calls with tools that were spent; a begin whose session was committed is given back. */
  iterations: number;
  /** The number of the next phase, counted from 0 over the whole turn. */
  nextPhaseIndex: number;
  /** Tool executions that are complete. */
  cycleIndex: number;
  /** Results of the executed calls, by signature. */
  readonly executed: Map<string, ToolResult>;
  /** How often a model repeated an executed call. */
  duplicates: number;
};

export function createTurnState(): TurnState {
  return { iterations: 0, nextPhaseIndex: 0, cycleIndex: 0, executed: new Map(), duplicates: 0 };
}

export type ProtocolConfig = {
  readonly maxIterations: number;
  readonly maxPhaseCycles: number;
  readonly maxDuplicateAttempts: number;
  readonly maxToolsPerToolPhase: number;
  readonly debugShowToolResults: boolean;
  /** Sent only when set. */
  readonly temperature?: number;
  readonly maxTokens?: number;
};

export type ProtocolContext = {
  /** Never changed; what a run adds comes back in its outcome. */
  readonly messages: readonly Message[];
  readonly mode: Mode;
  readonly projectId: string;
  readonly requestId: string;
  readonly adapter: LlmAdapter;
  readonly toolRegistry: ToolRegistry;
  readonly traceService: TraceRecorder;
  readonly config: ProtocolConfig;
  readonly turnState: TurnState;
  readonly signal: AbortSignal;
};

/** What a run hands to the turn driver when it ends; only the driver turns one of them into the public `done`. */
export type ProtocolOutcome = {
  /** The messages that this run added, in order and valid for a provider: every call has its answer. */
  readonly appended: readonly Message[];
} & (
  | { readonly kind: 'complete' }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'stopped'; readonly stopReason: StopReason }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'error'; readonly error: ErrorInfo }
  /** A tool asked for the content stage. `appended` ends with the tool messages of that call's message. */
  | { readonly kind: 'handover'; readonly call: ToolCall; readonly result: ToolResult }
  /** Only from the content stage: the message ended in order. `calls`, if any, were not run. */
  | {
      readonly kind: 'message_end';
      readonly finish: FinishReason;
      readonly calls: readonly ToolCall[];
    }
);

/**
 * What a protocol yields. The last event of every run is exactly one `outcome`, also after an error or an abort;
 * a protocol never throws for what a model, a tool or a provider does.
 */
export type ProtocolEvent =
  | { readonly type: 'phase'; readonly phase: 'action' | 'tool'; readonly index: number }
  | { readonly type: 'chunk'; readonly content: string; readonly source: 'model' | 'notice' }
  | { readonly type: 'tool_calls'; readonly calls: readonly ToolCall[] }
  | { readonly type: 'tool_result'; readonly result: ToolResult; readonly summary: string }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'outcome'; readonly outcome: ProtocolOutcome };

/** How a turn goes. The context carries everything; an instance keeps nothing between runs. */
export interface ProtocolStrategy {
  getName(): string;
  /** Whether this protocol works with the context's adapter; asked before any model call. */
  canHandle(context: ProtocolContext): boolean;
  /** Throws only for a malformed context. */
  executeStreaming(context: ProtocolContext): AsyncIterable<ProtocolEvent>;
}

import type { Clock } from './clock.ts';
import type { ErrorInfo } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { Redact } from './keys-in-use.ts';
import type { FinishReason, LlmAdapter, Usage } from './llm.ts';
import type { Message } from './messages.ts';
import type { StopReason } from './run-event.ts';
import type { Mode, ToolCall, ToolDefinition, ToolRegistry, ToolResult } from './tools.ts';
import type { TraceRecorder } from './trace.ts';

export type ProtocolName = 'standard' | 'two-stage' | 'controller';

/** What model calls took together. */
export type ModelSpending = {
  calls: number;
  /** From the request to the last event, by the monotonic clock. */
  milliseconds: number;
  /** Streamed by the model: as its provider counts them, estimated while it has not said so. */
  tokens: number;
};

/** What ended a turn before its model did: the first limit that was reached. */
export type TurnStop = {
  readonly reason: StopReason;
  /** The name of the limit, as the configuration has it. */
  readonly limit: string;
  readonly value: number;
};

/** What tells a turn that goes on from one that goes in circles. */
export type TurnProgress = {
  /** Tool phases in a row that brought nothing new. */
  idlePhases: number;
  /** The signature of the last call that ran. */
  lastSignature: string | null;
  /** Signatures and hashes of results that were seen in this turn. */
  readonly seen: Record<string, true>;
};

/**
 * What one turn remembers between the runs of its protocol. The turn driver makes it and hands the same object
 * to every run, so that a content stage in between costs neither an iteration nor a phase count.
 *
 * Plain JSON, and no moment of any clock: what was stored between two events of a turn is what another process goes
 * on with.
 */
export type TurnState = {
  /** Model calls with tools that were spent; a begin whose session was committed is given back. */
  iterations: number;
  /** The number of the next phase, counted from 0 over the whole turn. */
  nextPhaseIndex: number;
  /** Tool executions that are complete. */
  cycleIndex: number;
  /** Tool phases, and messages of which no call could be run; a begin whose session was committed is given back. */
  cyclesUsed: number;
  /** Messages in a row of which no call could be run, all for the same mistake, and that mistake. */
  refusedInARow: number;
  lastMistake: string | null;
  /** Results of the executed calls, by signature. */
  readonly executed: Record<string, ToolResult>;
  /** How often a model repeated an executed call. */
  duplicates: number;
  readonly progress: TurnProgress;
  /** Of the model calls outside of content stages, and of those that streamed a file. */
  readonly spent: { readonly protocol: ModelSpending; readonly content: ModelSpending };
  stop: TurnStop | null;
  /** What a protocol remembers beside all this, by its name. */
  readonly memory: Record<string, JsonObject>;
};

export function createTurnState(): TurnState {
  return {
    iterations: 0,
    nextPhaseIndex: 0,
    cycleIndex: 0,
    cyclesUsed: 0,
    refusedInARow: 0,
    lastMistake: null,
    executed: {},
    duplicates: 0,
    progress: { idlePhases: 0, lastSignature: null, seen: {} },
    spent: {
      protocol: { calls: 0, milliseconds: 0, tokens: 0 },
      content: { calls: 0, milliseconds: 0, tokens: 0 },
    },
    stop: null,
    memory: {},
  };
}

/** What a user allows a whole turn, content stages included; null is no limit. Reached, nothing more is asked. */
export type TurnBudget = {
  /** Model calls. */
  readonly maxTurns: number | null;
  /** From the first run on. */
  readonly maxSeconds: number | null;
  /** Streamed by the model. */
  readonly maxTokens: number | null;
};

/** Limits by their names: whole numbers, 0 or more. */
export type ProtocolLimits = { readonly [limit: string]: number | undefined };

export type ProtocolConfig = {
  /** The limits that a protocol has for itself, by its name. What is left out has the default of the protocol. */
  readonly limits: { readonly [protocol: string]: ProtocolLimits | undefined };
  readonly maxDuplicateAttempts: number;
  /** Stop policy: tool phases in a row that bring nothing new. */
  readonly maxIdleToolPhases: number;
  /** Stop policy: what the model calls of a turn outside of content stages may take together. */
  readonly stopSeconds: number;
  readonly stopTokens: number;
  readonly budget: TurnBudget;
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
  /** Takes keys in use out of what is cut before it is kept: the rest of a key would not be known again. */
  readonly redact?: Redact;
  readonly config: ProtocolConfig;
  readonly turnState: TurnState;
  readonly clock: Clock;
  /**
   * When the first run of the turn began, on the monotonic clock; of a turn that another process began, now less the
   * time that it had taken.
   */
  readonly startedAt: number;
  readonly signal: AbortSignal;
};

/** What a run hands to the turn driver when it ends; only the driver turns one of them into the public `done`. */
export type ProtocolOutcome = {
  /** The messages that this run added, in order and valid for a provider: every call has its answer. */
  readonly appended: readonly Message[];
} & (
  | { readonly kind: 'complete' }
  /** The model has said nothing that answers; with a `stopReason` in the last call that a limit allowed. */
  | { readonly kind: 'incomplete'; readonly stopReason?: StopReason }
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
  /** Only from the content stage, once: the provider sends the model's reasoning in a field of its own. */
  | { readonly type: 'reasoning' }
  | { readonly type: 'tool_calls'; readonly calls: readonly ToolCall[] }
  | { readonly type: 'tool_result'; readonly result: ToolResult; readonly summary: string }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'outcome'; readonly outcome: ProtocolOutcome };

/** How a turn goes. The context carries everything; an instance keeps nothing between runs. */
export interface ProtocolStrategy {
  getName(): string;
  /** Whether this protocol works with the context's adapter; asked before any model call. */
  canHandle(context: ProtocolContext): boolean;
  /**
   * The history as its models read it while they stream a file: from the output of the begin on, which is the last
   * tool message, everything they say is plain text. Left out, they read it as their provider has it, calls and tools
   * included; otherwise no tools are offered, and none of the messages is a call or the answer to one.
   */
  contentMessages?(
    history: readonly Message[],
    tools: readonly ToolDefinition[],
  ): readonly Message[];
  /** Throws only for a malformed context. */
  executeStreaming(context: ProtocolContext): AsyncIterable<ProtocolEvent>;
}

import type { Clock } from './clock.ts';
import type { ErrorInfo } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { Redact } from './keys-in-use.ts';
import type { FinishReason, LlmAdapter, Usage } from './llm.ts';
import type { AssistantMessage, Message, ToolMessage } from './messages.ts';
import type { StopReason } from './run-event.ts';
import type { ToolCall } from './tool-call.ts';
import type { Mode, ToolDefinition, ToolProgress, ToolRegistry, ToolResult } from './tools.ts';
import type { TraceRecorder } from './trace.ts';

export type ProtocolName = 'standard' | 'two-stage' | 'controller';

/** The total cost of model calls. */
export type ModelSpending = {
  calls: number;
  /** From the request to the last event, by the monotonic clock. */
  milliseconds: number;
  /** Streamed by the model. Counted by the provider, or estimated until it reports a count. */
  tokens: number;
};

/** The limit that ended a turn: the first one that was reached. */
export type TurnStop = {
  readonly reason: StopReason;
  /** The name of the limit in the configuration. */
  readonly limit: string;
  readonly value: number;
};

/** Distinguishes a turn that makes progress from one that repeats itself. */
export type TurnProgress = {
  /** Consecutive tool phases that brought nothing new. */
  idlePhases: number;
  /** The signature of the last call that ran. */
  lastSignature: string | null;
  /** Signatures and hashes of results that were seen in this turn. */
  readonly seen: Record<string, true>;
};

/**
 * The state of one turn, kept between the runs of its protocol. The turn driver creates it and passes the same object
 * to every run, so that a content stage in between uses neither an iteration nor a phase index.
 *
 * It is plain JSON and contains no clock readings, so that another process can continue the turn from a stored copy.
 */
export type TurnState = {
  /** Model calls with tools. A begin whose session was committed does not count. */
  iterations: number;
  /** The index of the next phase, counted from 0 over the whole turn. */
  nextPhaseIndex: number;
  /** Completed tool executions. */
  cycleIndex: number;
  /** Tool phases, and messages in which no call could be run. A begin whose session was committed does not count. */
  cyclesUsed: number;
  /** Consecutive messages in which no call could be run because of the same mistake, and that mistake. */
  refusedInARow: number;
  lastMistake: string | null;
  /** Results of the executed calls, by signature. */
  readonly executed: Record<string, ToolResult>;
  /** How often a model repeated an executed call. */
  duplicates: number;
  readonly progress: TurnProgress;
  /** Of model calls outside content stages, and of those that streamed a file. */
  readonly spent: { readonly protocol: ModelSpending; readonly content: ModelSpending };
  stop: TurnStop | null;
  /** The own memory of each protocol, by protocol name. */
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

/**
 * The user's limits for a whole turn, including content stages. Null means no limit. When one is reached, the model
 * is not called again.
 */
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
  /** The own limits of each protocol, by protocol name. A limit that is left out has the protocol's default. */
  readonly limits: { readonly [protocol: string]: ProtocolLimits | undefined };
  readonly maxDuplicateAttempts: number;
  /** Stop policy: consecutive tool phases that bring nothing new. */
  readonly maxIdleToolPhases: number;
  /** Stop policy: the total for all model calls of a turn outside content stages. */
  readonly stopSeconds: number;
  readonly stopTokens: number;
  readonly budget: TurnBudget;
  readonly debugShowToolResults: boolean;
  /** Sent only when set. */
  readonly temperature?: number;
  readonly maxTokens?: number;
};

/**
 * How far a message with calls has come, so that another process can complete it. `begun`: whoever ran the call did
 * not learn what came of it.
 */
export type PendingCalls = {
  /** The message as the history keeps it. */
  readonly said: AssistantMessage;
  /** Its calls as the model made them; only those that have no answer are used. */
  readonly calls: readonly ToolCall[];
  /** Of each call, in the same order. */
  readonly progress: readonly CallProgress[];
  /** The index of the tool phase that its calls have begun; null before that. */
  readonly toolPhase: number | null;
};

export type CallProgress =
  | { readonly kind: 'announced' | 'begun' }
  | {
      readonly kind: 'answered';
      readonly result: ToolResult;
      readonly answer: ToolMessage;
      /** Refused, since the call had run before. */
      readonly isDuplicate: boolean;
    };

export type ProtocolContext = {
  /** Never changed. A run returns what it adds in its outcome. */
  readonly messages: readonly Message[];
  readonly mode: Mode;
  readonly projectId: string;
  readonly requestId: string;
  readonly adapter: LlmAdapter;
  readonly toolRegistry: ToolRegistry;
  readonly traceService: TraceRecorder;
  /** Redacts keys in use in a text before it is cut, because a part of a key would not be recognised. */
  readonly redact?: Redact;
  readonly config: ProtocolConfig;
  readonly turnState: TurnState;
  readonly clock: Clock;
  /**
   * When the first run of the turn began, on the monotonic clock. For a turn that another process began: the current
   * time minus the time that the turn has taken.
   */
  readonly startedAt: number;
  readonly signal: AbortSignal;
  /** Whether the run reports where another process could continue it. */
  readonly reportsCheckpoints?: boolean;
  /** The message, after `messages`, that another process left incomplete: the run begins with its calls. */
  readonly pending?: PendingCalls;
};

/** The result of a run. Only the turn driver turns it into the public `done`. */
export type ProtocolOutcome = {
  /** The messages that this run added, in order. They are valid for a provider: every call has an answer. */
  readonly appended: readonly Message[];
} & (
  | { readonly kind: 'complete' }
  /** The model gave no usable answer. With `stopReason`, that was the last call after a limit. */
  | { readonly kind: 'incomplete'; readonly stopReason?: StopReason }
  | { readonly kind: 'stopped'; readonly stopReason: StopReason }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'error'; readonly error: ErrorInfo }
  /** A tool asked for the content stage. `appended` ends with the tool messages of that call's message. */
  | { readonly kind: 'handover'; readonly call: ToolCall; readonly result: ToolResult }
  /** Only from the content stage: the message ended normally. `calls`, if any, were not run. */
  | {
      readonly kind: 'message_end';
      readonly finish: FinishReason;
      readonly calls: readonly ToolCall[];
    }
);

/**
 * The events that a protocol yields. Every run ends with exactly one `outcome`, even after an error or an abort. A
 * protocol never throws because of what a model, a tool or a provider does.
 */
export type ProtocolEvent =
  | { readonly type: 'phase'; readonly phase: 'action' | 'tool'; readonly index: number }
  | { readonly type: 'chunk'; readonly content: string; readonly source: 'model' | 'notice' }
  /** Only from the content stage, once: the provider sends reasoning separately from the text. */
  | { readonly type: 'reasoning' }
  | { readonly type: 'tool_calls'; readonly calls: readonly ToolCall[] }
  /** How far a call has come that runs; none follows its result. The message is short and redacted. */
  | { readonly type: 'tool_progress'; readonly call: ToolCall; readonly progress: ToolProgress }
  | { readonly type: 'tool_result'; readonly result: ToolResult; readonly summary: string }
  | { readonly type: 'usage'; readonly usage: Usage }
  /**
   * Another process could continue here, with `turnState` as it is now; only where the context asks for it. It belongs
   * to the event that follows: both are stored, or neither. `appended` is what the run has added so far, without the
   * message that is pending.
   */
  | {
      readonly type: 'checkpoint';
      readonly appended: readonly Message[];
      readonly pending: PendingCalls | null;
    }
  | { readonly type: 'outcome'; readonly outcome: ProtocolOutcome };

/** Decides the course of a turn. The context carries all state; an instance keeps nothing between runs. */
export interface ProtocolStrategy {
  getName(): string;
  /** Whether this protocol works with the context's adapter. Called before any model call. */
  canHandle(context: ProtocolContext): boolean;
  /**
   * The history as its models read it while they stream a file. Everything they write after the output of the begin,
   * the last tool message, is plain text. If left out, they read the provider's own form, including calls and tools.
   * If present, no tools are offered, and no message may be a call or an answer to one.
   */
  contentMessages?(
    history: readonly Message[],
    tools: readonly ToolDefinition[],
  ): readonly Message[];
  /** Throws only for a malformed context. */
  executeStreaming(context: ProtocolContext): AsyncIterable<ProtocolEvent>;
}

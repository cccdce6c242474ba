import type {
  Clock,
  LlmAdapter,
  Message,
  Mode,
  ProtocolConfig,
  ProtocolContext,
  ProtocolStrategy,
  RunEventBody,
  SessionHandle,
  StopReason,
  TraceRecorder,
  TurnState,
  TurnStatus,
  Workspace,
} from '@orion/contracts';
import { createTurnState } from '@orion/contracts';
import type { SessionSettings, WritePlanTool, WriteSession } from '@orion/core';

import type { FinalizeRequest } from '../orion.ts';
import { SessionDriver } from './session-driver.ts';
import type { SessionOutcome, SessionStart } from './session-run.ts';

/** How the provider is named in `turn.json`; never a key. */
export type ProviderIdentity = {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
};

export type Conversation = {
  /** Without the system prompt, which belongs to a turn. */
  messages: readonly Message[];
};

/** What a turn works with; made once by the composition root. */
export type TurnDependencies = {
  readonly workspace: Workspace;
  /** The provider; `defaults` are what an earlier turn of a recovered session used. */
  readonly connect: (
    defaults: ProviderIdentity | null,
  ) => Promise<{ readonly adapter: LlmAdapter; readonly identity: ProviderIdentity }>;
  readonly protocol: ProtocolStrategy;
  readonly protocolReason: string;
  readonly protocolConfig: ProtocolConfig;
  readonly content: ProtocolStrategy;
  readonly writePlanTool: WritePlanTool;
  readonly sessionSettings: (adapter: LlmAdapter | null) => SessionSettings;
  /** How much of a file in progress a model is shown, in bytes. */
  readonly contextLimit: number;
  readonly clock: Clock;
  readonly trace: TraceRecorder;
  readonly createId: () => string;
  readonly conversations: Map<string, Conversation>;
  /** Aborted when the process is about to end. */
  readonly stopSignal: AbortSignal;
};

export type TurnTask =
  | {
      readonly kind: 'message';
      readonly content: string;
      readonly mode: Mode;
      readonly recover: string | null;
    }
  | { readonly kind: 'recover'; readonly sessionId: string }
  | { readonly kind: 'finalize'; readonly request: FinalizeRequest };

export type TurnIds = {
  readonly requestId: string;
  readonly projectId: string;
  readonly conversationId: string;
};

/** How a turn ends; the driver makes the one public `done` of it. */
export type TurnEnd = { readonly status: TurnStatus; readonly stopReason?: StopReason };

/** What the parts of one turn share: its dependencies, its ids, and the history as it grows. */
export class TurnScope {
  readonly dependencies: TurnDependencies;
  readonly ids: TurnIds;
  /** Aborted when the turn is cancelled or the process stops. */
  readonly signal: AbortSignal;
  readonly state: TurnState = createTurnState();
  /** What a provider is sent, the system prompt first; valid at every moment. */
  messages: readonly Message[] = [];

  constructor(dependencies: TurnDependencies, ids: TurnIds, signal: AbortSignal) {
    this.dependencies = dependencies;
    this.ids = ids;
    this.signal = signal;
  }

  /** Runs a write session to its outcome; its begin must stand in `messages`. */
  async *drive(
    handle: SessionHandle,
    session: WriteSession,
    context: Omit<ProtocolContext, 'messages'> | null,
    start: SessionStart,
  ): AsyncGenerator<RunEventBody, SessionOutcome> {
    const { writePlanTool, content, clock, trace, contextLimit, stopSignal } = this.dependencies;
    const driver = new SessionDriver({
      session,
      handle,
      base: this.messages,
      content,
      context,
      clock,
      trace,
      projectId: this.ids.projectId,
      requestId: this.ids.requestId,
      contextLimit,
      finalize: (facts) => writePlanTool.finalizeSession(handle.id, handle.contentPath(), facts),
      signal: this.signal,
      stopSignal,
    });
    try {
      return yield* driver.run(start);
    } finally {
      writePlanTool.forget(handle.id);
    }
  }

  /** Replaces what a call was answered with. */
  answerCall(callId: string, content: string): void {
    this.messages = this.messages.map((message) =>
      message.role === 'tool' && message.toolCallId === callId ? { ...message, content } : message,
    );
  }

  traceIds(): { readonly projectId: string; readonly requestId: string; readonly source: string } {
    return { projectId: this.ids.projectId, requestId: this.ids.requestId, source: 'agent' };
  }

  trace(type: string, details: { readonly [key: string]: string | number | boolean | null }): void {
    this.dependencies.trace.record({ type, ...this.traceIds(), details });
  }
}

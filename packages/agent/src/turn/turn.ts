import type {
  Clock,
  ErrorInfo,
  LlmAdapter,
  Message,
  Mode,
  ProtocolConfig,
  ProtocolContext,
  ProtocolOutcome,
  ProtocolStrategy,
  RunEvent,
  RunEventBody,
  SessionHandle,
  StopReason,
  ToolCall,
  ToolRegistry,
  TraceRecorder,
  TurnRecord,
  TurnState,
  TurnStatus,
  Workspace,
} from '@orion/contracts';
import { createTurnState, OrionError, toErrorInfo } from '@orion/contracts';
import { createSession } from '@orion/core';
import type { SessionSettings, WritePlanTool, WriteSession } from '@orion/core';
import { recordExecuted } from '@orion/protocols';
import { createReadFileTool, createToolRegistry } from '@orion/tool-runner';

import { systemPrompt, MAX_INSTRUCTION_BYTES, MAX_LISTED_FILES } from '../context/system-prompt.ts';
import type { FinalizeRequest } from '../orion.ts';
import { EventStamper } from './event-stamper.ts';
import { abortedMessage, pausedMessage, receiptMessage } from './receipt-message.ts';
import { recoveredHistory, recoverSession } from './recovery.ts';
import type { RecoveredSession } from './recovery.ts';
import { commandsFor } from './paused-session.ts';
import { SessionDriver } from './session-driver.ts';
import type { SessionOutcome, SessionStart } from './session-driver.ts';

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

type TurnEnd = { readonly status: TurnStatus; readonly stopReason?: StopReason };

/**
 * One turn: the loop around the protocol.
 *
 * Invariants
 * U1  Exactly one `done`, last, on every path.
 * U2  A session that a tool opened is driven to its outcome, or given back when the turn ends before that.
 * U3  The history that goes to a provider is valid at every moment: each call has its tool message.
 */
export class Turn {
  readonly #dependencies: TurnDependencies;
  readonly #ids: TurnIds;
  readonly #task: TurnTask;
  readonly #signal: AbortSignal;
  readonly #state: TurnState = createTurnState();
  readonly #opened = new Map<string, SessionHandle>();
  #messages: readonly Message[] = [];

  constructor(dependencies: TurnDependencies, ids: TurnIds, task: TurnTask, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#ids = ids;
    this.#task = task;
    this.#signal = signal;
  }

  async *run(): AsyncGenerator<RunEvent, void> {
    const { protocol, protocolReason, trace } = this.#dependencies;
    const stamper = new EventStamper(
      { ...this.#ids, protocol: protocol.getName() },
      () => this.#state.cycleIndex,
    );
    const parts: string[] = [];
    let end: TurnEnd = { status: 'error' };
    this.#trace('turn_started', {
      task: this.#task.kind,
      protocol: protocol.getName(),
      reason: protocolReason,
    });
    const body = this.#body();
    try {
      for (;;) {
        const next = await body.next();
        if (next.done === true) {
          end = next.value;
          break;
        }
        const event = next.value;
        if (event.type === 'chunk' && event.source === 'model') parts.push(event.content);
        yield stamper.stamp(event);
      }
    } catch (error) {
      const info = toErrorInfo(error);
      trace.record({ type: 'error_occurred', ...this.#traceIds(), error: info });
      yield stamper.stamp({ type: 'error', error: info });
      end = { status: 'error' };
    } finally {
      await body.return({ status: 'aborted' });
      await this.#giveBack();
      this.#remember();
      this.#trace('turn_ended', { status: end.status, stopReason: end.stopReason ?? null });
    }
    yield stamper.stamp({
      type: 'done',
      fullContent: parts.join(''),
      status: end.status,
      protocolReason,
      ...(end.stopReason === undefined ? {} : { stopReason: end.stopReason }),
    });
  }

  #body(): AsyncGenerator<RunEventBody, TurnEnd> {
    switch (this.#task.kind) {
      case 'message':
        return this.#answer(this.#task);
      case 'recover':
        return this.#recoverOnly(this.#task.sessionId);
      case 'finalize':
        return this.#finalizeByHand(this.#task.request);
    }
  }

  async *#answer(
    task: Extract<TurnTask, { kind: 'message' }>,
  ): AsyncGenerator<RunEventBody, TurnEnd> {
    const conversation = this.#dependencies.conversations.get(this.#ids.conversationId);
    let history = conversation?.messages ?? [];
    if (task.recover !== null) {
      const end = yield* this.#recover(task.recover);
      if (end !== null) return end;
      history = withoutSystem(this.#messages);
      if (task.content.trim() === '') return { status: 'complete' };
    }
    const { adapter, identity } = await this.#dependencies.connect(null);
    const prompt = await this.#systemPrompt(task.mode);
    this.#messages = [prompt, ...history, { role: 'user', content: task.content }];
    return yield* this.#runProtocol(adapter, identity, task.mode);
  }

  async #systemPrompt(mode: Mode): Promise<Message> {
    const { workspace } = this.#dependencies;
    const { files, truncated } = await workspace.listFiles(MAX_LISTED_FILES);
    const instructions = await workspace.readInstructions(MAX_INSTRUCTION_BYTES);
    if (instructions !== null) {
      this.#trace('project_instructions', {
        file: instructions.name,
        characters: instructions.content.length,
        truncated: instructions.truncated,
      });
    }
    return {
      role: 'system',
      content: systemPrompt({ mode, files, filesTruncated: truncated, instructions }),
    };
  }

  async *#runProtocol(
    adapter: LlmAdapter,
    identity: ProviderIdentity,
    mode: Mode,
  ): AsyncGenerator<RunEventBody, TurnEnd> {
    const { protocol, protocolConfig, workspace, writePlanTool, clock } = this.#dependencies;
    const registry = createToolRegistry(
      [
        createReadFileTool(workspace),
        writePlanTool.tool(async (request, callId) => {
          const begun = await writePlanTool.begin(request);
          this.#opened.set(callId, begun.handle);
          return begun;
        }),
      ],
      { clock },
    );
    const context: Omit<ProtocolContext, 'messages'> = {
      mode,
      projectId: this.#ids.projectId,
      requestId: this.#ids.requestId,
      adapter,
      toolRegistry: registry,
      traceService: this.#dependencies.trace,
      config: protocolConfig,
      turnState: this.#state,
      signal: this.#signal,
    };
    if (!protocol.canHandle({ ...context, messages: this.#messages })) {
      throw new OrionError({
        code: 'PROTOCOL_UNSUPPORTED',
        message: `The protocol ${protocol.getName()} does not work with ${adapter.name}.`,
      });
    }
    for (;;) {
      const outcome = yield* this.#runOnce({ ...context, messages: this.#messages });
      this.#messages = [...this.#messages, ...outcome.appended];
      if (outcome.kind !== 'handover') return yield* this.#endOf(outcome);
      const end = yield* this.#writeFile({ call: outcome.call, context, registry, identity });
      if (end !== null) return end;
    }
  }

  async *#runOnce(context: ProtocolContext): AsyncGenerator<RunEventBody, ProtocolOutcome> {
    for await (const event of this.#dependencies.protocol.executeStreaming(context)) {
      switch (event.type) {
        case 'outcome':
          return event.outcome;
        case 'tool_calls':
          yield {
            type: 'tool_calls',
            calls: event.calls.map((call) => ({
              id: call.id,
              name: call.name,
              arguments: call.arguments,
            })),
          };
          break;
        case 'tool_result':
          yield {
            type: 'tool_result',
            callId: event.result.toolCallId,
            toolName: event.result.toolName,
            ok: event.result.success,
            summary: event.summary,
          };
          break;
        case 'usage':
          yield { type: 'usage', ...event.usage };
          break;
        case 'phase':
        case 'chunk':
          yield event;
          break;
        default:
          event satisfies never;
      }
    }
    throw new Error('the protocol ended without an outcome');
  }

  *#endOf(
    outcome: Exclude<ProtocolOutcome, { kind: 'handover' }>,
  ): Generator<RunEventBody, TurnEnd> {
    switch (outcome.kind) {
      case 'complete':
        return { status: 'complete' };
      case 'incomplete':
        return { status: 'incomplete' };
      case 'stopped':
        return { status: 'stopped', stopReason: outcome.stopReason };
      case 'aborted':
        return { status: 'aborted', stopReason: 'cancelled' };
      case 'error':
        yield { type: 'error', error: outcome.error };
        return { status: 'error', stopReason: 'provider_error' };
      case 'message_end':
        throw new Error('a protocol ended like the content stage');
      default:
        return outcome satisfies never;
    }
  }

  /** The content stage: from begin's tool message to the receipt in its place. Null: the turn goes on. */
  async *#writeFile(options: {
    readonly call: ToolCall;
    readonly context: Omit<ProtocolContext, 'messages'>;
    readonly registry: ToolRegistry;
    readonly identity: ProviderIdentity;
  }): AsyncGenerator<RunEventBody, TurnEnd | null> {
    const { call, context, registry, identity } = options;
    const handle = this.#opened.get(call.id);
    if (handle === undefined) throw new Error('a handover without a session');
    this.#opened.delete(call.id);
    const settings = this.#dependencies.sessionSettings(context.adapter);
    const { session } = createSession(handle.metadata, settings);
    await this.#saveTurn(handle, call, identity, context.mode);
    const outcome = yield* this.#drive(handle, session, context, { kind: 'content' });
    switch (outcome.kind) {
      case 'committed': {
        const content = receiptMessage(outcome.receipt);
        this.#answerCall(call.id, content);
        this.#state.iterations = Math.max(0, this.#state.iterations - 1);
        recordExecuted(this.#state, registry, this.#ids.projectId, call, {
          toolCallId: call.id,
          toolName: call.name,
          success: true,
          result: content,
          details: {},
          attempts: 1,
        });
        return null;
      }
      case 'paused':
        this.#answerCall(call.id, pausedMessage(outcome.paused));
        return yield* pausedEnd(outcome, this.#signal);
      case 'aborted':
        this.#answerCall(call.id, abortedMessage(outcome.code));
        return outcome.code === 'EMPTY_CONTENT'
          ? null
          : { status: 'aborted', stopReason: 'cancelled' };
      case 'lost':
        this.#answerCall(call.id, abortedMessage('SESSION_ABORTED'));
        return yield* lostEnd(handle);
      default:
        return outcome satisfies never;
    }
  }

  async #saveTurn(
    handle: SessionHandle,
    call: ToolCall,
    identity: ProviderIdentity,
    mode: Mode,
  ): Promise<void> {
    const record: TurnRecord = {
      version: 1,
      ...this.#ids,
      ...identity,
      protocol: this.#dependencies.protocol.getName(),
      mode,
      callId: call.id,
      messages: this.#messages,
      options: {},
    };
    try {
      await handle.saveTurn(record);
    } catch (error) {
      // A recovery then knows less of the turn, but nothing of the file is lost.
      this.#trace('turn_record_failed', { code: toErrorInfo(error).code });
    }
  }

  async *#drive(
    handle: SessionHandle,
    session: WriteSession,
    context: Omit<ProtocolContext, 'messages'> | null,
    start: SessionStart,
  ): AsyncGenerator<RunEventBody, SessionOutcome> {
    const { writePlanTool, content, clock, trace, contextLimit, stopSignal } = this.#dependencies;
    const driver = new SessionDriver({
      session,
      handle,
      base: this.#messages,
      content,
      context,
      clock,
      trace,
      projectId: this.#ids.projectId,
      requestId: this.#ids.requestId,
      contextLimit,
      finalize: (facts) => writePlanTool.finalizeSession(handle.id, handle.contentPath(), facts),
      signal: this.#signal,
      stopSignal,
    });
    try {
      return yield* driver.run(start);
    } finally {
      writePlanTool.forget(handle.id);
    }
  }

  #answerCall(callId: string, content: string): void {
    this.#messages = this.#messages.map((message) =>
      message.role === 'tool' && message.toolCallId === callId ? { ...message, content } : message,
    );
  }

  async *#recoverOnly(sessionId: string): AsyncGenerator<RunEventBody, TurnEnd> {
    return (yield* this.#recover(sessionId)) ?? { status: 'complete' };
  }

  /** Goes on with an orphan. Null: it is committed. */
  async *#recover(sessionId: string): AsyncGenerator<RunEventBody, TurnEnd | null> {
    const { workspace, sessionSettings, writePlanTool } = this.#dependencies;
    const recovered = await recoverSession(workspace, sessionId, sessionSettings(null));
    const { handle, turn, commit } = recovered;
    writePlanTool.adopt(handle);
    let driven = false;
    try {
      for (const note of recovered.notes) yield notice(note);
      this.#messages = recoveredHistory(recovered);
      if (commit.kind === 'happened') {
        driven = true;
        return yield* this.#concludeCommit(recovered, commit.receipt);
      }
      if (commit.kind === 'overtaken') return yield* overtakenEnd(recovered);
      const context = commit.kind === 'not_happened' ? null : await this.#recoveryContext(turn);
      const session =
        context === null
          ? recovered.session
          : { ...recovered.session, settings: sessionSettings(context.adapter) };
      driven = true;
      const start: SessionStart =
        commit.kind === 'not_happened' ? { kind: 'finalize', answer: null } : { kind: 'recover' };
      const outcome = yield* this.#drive(handle, session, context, start);
      return yield* this.#endRecovery(recovered, outcome);
    } finally {
      if (!driven) await handle.release();
    }
  }

  async #recoveryContext(turn: TurnRecord | null): Promise<Omit<ProtocolContext, 'messages'>> {
    const { protocolConfig, workspace, writePlanTool, trace, clock } = this.#dependencies;
    const { adapter } = await this.#dependencies.connect(
      turn === null
        ? null
        : {
            provider: turn.provider,
            model: turn.model,
            ...(turn.baseUrl === undefined ? {} : { baseUrl: turn.baseUrl }),
          },
    );
    // The same tools as in the turn that was interrupted, so that the provider's prompt cache holds.
    const registry = createToolRegistry(
      [
        createReadFileTool(workspace),
        writePlanTool.tool((request) => writePlanTool.begin(request)),
      ],
      { clock },
    );
    return {
      mode: turn?.mode ?? 'act',
      projectId: this.#ids.projectId,
      requestId: this.#ids.requestId,
      adapter,
      toolRegistry: registry,
      traceService: trace,
      config: protocolConfig,
      turnState: this.#state,
      signal: this.#signal,
    };
  }

  async *#concludeCommit(
    recovered: RecoveredSession,
    receipt: Extract<RecoveredSession['commit'], { kind: 'happened' }>['receipt'],
  ): AsyncGenerator<RunEventBody, TurnEnd | null> {
    const { handle, session, turn } = recovered;
    const { trailing } = await handle.remove();
    const whole = trailing === undefined ? receipt : { ...receipt, trailing };
    yield {
      type: 'write_session',
      sessionId: handle.id,
      status: 'done',
      targetFile: handle.metadata.target_file,
      operation: handle.metadata.operation,
      bytes: session.summary.bytes,
      lines: session.summary.lineFeeds,
      durableBytes: session.summary.bytes,
      receipt: whole,
    };
    if (turn !== null) this.#answerCall(turn.callId, receiptMessage(whole));
    return null;
  }

  async *#endRecovery(
    recovered: RecoveredSession,
    outcome: SessionOutcome,
  ): AsyncGenerator<RunEventBody, TurnEnd | null> {
    const callId = recovered.turn?.callId ?? '';
    switch (outcome.kind) {
      case 'committed':
        this.#answerCall(callId, receiptMessage(outcome.receipt));
        return null;
      case 'paused':
        this.#answerCall(callId, pausedMessage(outcome.paused));
        return yield* pausedEnd(outcome, this.#signal);
      case 'aborted':
        this.#answerCall(callId, abortedMessage(outcome.code));
        return { status: 'incomplete' };
      case 'lost':
        return yield* lostEnd(recovered.handle);
      default:
        return outcome satisfies never;
    }
  }

  /** A person writes what is saved, without a model. */
  async *#finalizeByHand(request: FinalizeRequest): AsyncGenerator<RunEventBody, TurnEnd> {
    const { workspace, sessionSettings, writePlanTool } = this.#dependencies;
    const recovered = await recoverSession(workspace, request.sessionId, sessionSettings(null));
    const { handle, commit } = recovered;
    writePlanTool.adopt(handle);
    let driven = false;
    try {
      for (const note of recovered.notes) yield notice(note);
      if (commit.kind === 'happened') {
        driven = true;
        return (yield* this.#concludeCommit(recovered, commit.receipt)) ?? { status: 'complete' };
      }
      const target = await this.#conflictTarget(handle, request.onConflict);
      if (commit.kind === 'overtaken' && target === undefined)
        return yield* overtakenEnd(recovered);
      driven = true;
      const outcome = yield* this.#drive(handle, recovered.session, null, {
        kind: 'finalize',
        answer: answerOf(request),
        ...(target === undefined ? {} : { target }),
      });
      return (yield* this.#endRecovery(recovered, outcome)) ?? { status: 'complete' };
    } finally {
      if (!driven) await handle.release();
    }
  }

  /** What a person's decision about a changed target means for the commit. */
  async #conflictTarget(
    handle: SessionHandle,
    onConflict: FinalizeRequest['onConflict'],
  ): Promise<Extract<SessionStart, { kind: 'finalize' }>['target']> {
    const { workspace } = this.#dependencies;
    const { target_file, operation, session_id } = handle.metadata;
    switch (onConflict) {
      case undefined:
        return undefined;
      case 'overwrite': {
        const agreed = operation === 'append' ? 'append' : 'overwrite';
        return { operation: agreed, expected: await workspace.checkTarget(target_file, agreed) };
      }
      case 'keep-both': {
        const name = besideName(target_file, session_id.slice(0, 4));
        return { operation: 'create', expected: await workspace.checkTarget(name, 'create') };
      }
      default:
        return onConflict satisfies never;
    }
  }

  /** Sessions that were opened but never driven hold nothing: they go. */
  async #giveBack(): Promise<void> {
    for (const handle of this.#opened.values()) {
      this.#dependencies.writePlanTool.forget(handle.id);
      try {
        await handle.remove();
      } catch (error) {
        this.#trace('session_not_removed', { code: toErrorInfo(error).code });
      }
    }
    this.#opened.clear();
  }

  #remember(): void {
    if (this.#messages.length === 0) return;
    this.#dependencies.conversations.set(this.#ids.conversationId, {
      messages: withoutSystem(this.#messages),
    });
  }

  #traceIds(): { readonly projectId: string; readonly requestId: string; readonly source: string } {
    return { projectId: this.#ids.projectId, requestId: this.#ids.requestId, source: 'agent' };
  }

  #trace(
    type: string,
    details: { readonly [key: string]: string | number | boolean | null },
  ): void {
    this.#dependencies.trace.record({ type, ...this.#traceIds(), details });
  }
}

function notice(message: string): RunEventBody {
  return { type: 'chunk', content: `${message}\n`, source: 'notice' };
}

function withoutSystem(messages: readonly Message[]): readonly Message[] {
  return messages[0]?.role === 'system' ? messages.slice(1) : messages;
}

function* pausedEnd(
  outcome: Extract<SessionOutcome, { kind: 'paused' }>,
  signal: AbortSignal,
): Generator<RunEventBody, TurnEnd> {
  if (outcome.message !== null && outcome.paused.code !== 'ABORTED') {
    const info: ErrorInfo = new OrionError({
      code: outcome.paused.code as ErrorInfo['code'],
      message: outcome.message,
    }).toInfo();
    yield { type: 'error', error: info };
  }
  return signal.aborted ? { status: 'paused', stopReason: 'cancelled' } : { status: 'paused' };
}

function* lostEnd(handle: SessionHandle): Generator<RunEventBody, TurnEnd> {
  const error = new OrionError({
    code: 'SESSION_BUSY',
    message: `Another process took over the write session for ${handle.metadata.target_file}.`,
  });
  yield { type: 'error', error: error.toInfo() };
  return { status: 'error' };
}

/** Somebody else changed the file between the commit's record and now: a person decides. */
function* overtakenEnd(recovered: RecoveredSession): Generator<RunEventBody, TurnEnd> {
  const { handle, session } = recovered;
  const { summary } = session;
  const paused = {
    session_id: handle.id,
    target_file: handle.metadata.target_file,
    operation: handle.metadata.operation,
    code: 'TARGET_CHANGED',
    lines: summary.lineFeeds + (summary.openLineLength > 0 ? 1 : 0),
    bytes: summary.bytes,
    session_dir: handle.directory,
    commands: commandsFor(handle.id, 'TARGET_CHANGED', null),
  } as const;
  yield {
    type: 'write_session',
    sessionId: handle.id,
    status: 'session_active.paused',
    targetFile: handle.metadata.target_file,
    operation: handle.metadata.operation,
    bytes: summary.bytes,
    lines: summary.lineFeeds,
    durableBytes: summary.bytes,
    code: 'TARGET_CHANGED',
    paused,
  };
  return { status: 'paused' };
}

function answerOf(request: FinalizeRequest): Extract<SessionStart, { kind: 'finalize' }>['answer'] {
  if (request.endAt !== undefined) return { kind: 'end', line: request.endAt };
  return request.answer === undefined ? null : { kind: request.answer };
}

/** `docs/a.md` and `7f3a` make `docs/a.orion-7f3a.md`. */
function besideName(target: string, tag: string): string {
  const slash = target.lastIndexOf('/');
  const dot = target.lastIndexOf('.');
  if (dot <= slash + 1) return `${target}.orion-${tag}`;
  return `${target.slice(0, dot)}.orion-${tag}${target.slice(dot)}`;
}

import type {
  ErrorInfo,
  LlmAdapter,
  Message,
  RefusedFile,
  Mode,
  ProtocolContext,
  ProtocolOutcome,
  RunEvent,
  RunEventBody,
  SessionHandle,
  ToolCall,
  ToolRegistry,
  TurnRecord,
} from '@orion/contracts';
import { OrionError, toErrorInfo } from '@orion/contracts';
import { createSession } from '@orion/core';
import { recordCommittedBegin } from '@orion/protocols';
import { createReadFileTool, createToolRegistry } from '@orion/tool-runner';

import { MAX_INSTRUCTION_BYTES, MAX_LISTED_FILES, systemPrompt } from '../context/system-prompt.ts';
import { redactEvents } from '../keys/redacted-events.ts';
import { redactMessages } from '../keys/redacted-messages.ts';
import type { ProviderIdentity } from '../orion.ts';
import type { TurnJournal } from '../store/turn-journal.ts';
import { EventStamper } from './event-stamper.ts';
import { joinText } from './join-text.ts';
import { keepArguments } from './kept-arguments.ts';
import type { KeptArguments } from './kept-arguments.ts';
import { receiptMessage } from './receipt-message.ts';
import { finalizeByHand, recover } from './recovered-turn.ts';
import { lostEnd, notice, notUsed, pausedEnd } from './turn-ends.ts';
import type { TurnEnd, TurnScope, TurnTask } from './turn-scope.ts';

/**
 * One turn: the loop around the protocol.
 *
 * Invariants
 * U1  Exactly one `done`, last, on every path.
 * U2  A session that a tool opened is driven to its outcome, or given back when the turn ends before that.
 * U3  The history that goes to a provider is valid at every moment: each call has its tool message.
 * U4  An event that changes the disk is in the turn log before the change, unless the log fails or is slower than it
 *     usually is (`StoreHealth`); its outcome after.
 */
export class Turn {
  readonly #scope: TurnScope;
  readonly #task: TurnTask;
  readonly #opened = new Map<string, SessionHandle>();
  readonly #journal: TurnJournal;
  readonly #leave: () => void;
  #kept: KeptArguments | null = null;
  /** The calls of the message that is being answered, by the ids that their results name. */
  #calls: ReadonlyMap<string, ToolCall> = new Map();

  /** `leave` aborts what the turn does, for a reader that goes away while something is under way. */
  constructor(scope: TurnScope, task: TurnTask, journal: TurnJournal, leave: () => void) {
    this.#scope = scope;
    this.#task = task;
    this.#journal = journal;
    this.#leave = leave;
  }

  async *run(): AsyncGenerator<RunEvent, void> {
    const { protocol, protocolReason, trace, clock, keys } = this.#scope.dependencies;
    const stamper = new EventStamper({ ...this.#scope.ids, protocol: protocol.getName() });
    const cycle = (): number => this.#scope.state.cycleIndex;
    const record = (body: RunEventBody, cycleIndex = cycle()): RunEvent => {
      const event = stamper.stamp(body, cycleIndex);
      this.#journal.note(event);
      return event;
    };
    const parts: string[] = [];
    let end: TurnEnd | null = null;
    this.#scope.trace('turn_started', {
      task: this.#task.kind,
      protocol: protocol.getName(),
      reason: protocolReason,
    });
    const events = joinText(redactEvents(this.#body(), keys), clock, cycle, this.#leave);
    try {
      for (;;) {
        const next = await events.next();
        if (next.done === true) {
          end = next.value;
          break;
        }
        const { event, cycleIndex } = next.value;
        if (event.type === 'chunk' && event.source === 'model') parts.push(event.content);
        const recorded = record(event, cycleIndex);
        // The log is written while the event is shown.
        const stored = precedesEffect(event) ? this.#journal.settled() : null;
        yield recorded;
        if (stored !== null) await stored;
        yield* this.#storeNotices(record);
      }
    } catch (error) {
      const { message, ...rest } = toErrorInfo(error);
      const info: ErrorInfo = { ...rest, message: keys.redact(message) };
      trace.record({ type: 'error_occurred', ...this.#scope.traceIds(), error: info });
      yield record({ type: 'error', error: info });
      end = { status: 'error' };
    } finally {
      await events.return({ status: 'aborted' });
      await this.#giveBack();
      this.#scope.remember();
      const { status, stopReason } = end ?? { status: 'aborted' };
      this.#scope.trace('turn_ended', { status, stopReason: stopReason ?? null });
      // Nobody reads on, but whoever reads the log must see that the turn is over.
      if (end === null) record(doneOf({ status: 'aborted' }, parts, protocolReason));
    }
    await Promise.all([this.#journal.settled(), this.#scope.dependencies.conversations.settled()]);
    yield* this.#storeNotices(record);
    const done = record(doneOf(end, parts, protocolReason));
    await this.#journal.end();
    yield done;
  }

  #body(): AsyncGenerator<RunEventBody, TurnEnd> {
    switch (this.#task.kind) {
      case 'message':
        return this.#answer(this.#task);
      case 'recover':
        return this.#recoverOnly(this.#task.sessionId);
      case 'finalize':
        return finalizeByHand(this.#scope, this.#task.request);
    }
  }

  async *#answer(
    task: Extract<TurnTask, { kind: 'message' }>,
  ): AsyncGenerator<RunEventBody, TurnEnd> {
    let history = this.#scope.earlier;
    if (task.recover !== null) {
      const end = yield* recover(this.#scope, task.recover);
      if (end !== null) return end;
      history = this.#scope.history();
      if (task.content.trim() === '') return { status: 'complete' };
    }
    // A conversation that was recovered goes on with the model that it has been held with.
    const { adapter, identity } = await this.#scope.dependencies.connect(
      this.#scope.recovered?.identity ?? null,
    );
    const { prompt, refused } = await this.#systemPrompt(task.mode);
    if (refused.length > 0) yield notice(notUsed(refused));
    this.#scope.recovered = null;
    this.#scope.compose(
      prompt,
      history,
      { role: 'user', content: task.content },
      this.#scope.dependencies.historyLimit(adapter),
    );
    return yield* this.#runProtocol(adapter, identity, task.mode);
  }

  /** What a repository brought and cannot be used is left out, and the turn goes on. */
  async #systemPrompt(
    mode: Mode,
  ): Promise<{ readonly prompt: Message; readonly refused: readonly RefusedFile[] }> {
    const { workspace, sessionSettings } = this.#scope.dependencies;
    const { strict } = sessionSettings(null);
    const listed = await workspace.listFiles(MAX_LISTED_FILES);
    const read = await workspace.readInstructions(MAX_INSTRUCTION_BYTES);
    const { files, truncated } = listed;
    const { instructions } = read;
    if (instructions !== null) {
      this.#scope.trace('project_instructions', {
        file: instructions.name,
        characters: instructions.content.length,
        truncated: instructions.truncated,
      });
    }
    return {
      prompt: {
        role: 'system',
        content: systemPrompt({ mode, strict, files, filesTruncated: truncated, instructions }),
      },
      refused: [...listed.refused, ...read.refused],
    };
  }

  async *#runProtocol(
    adapter: LlmAdapter,
    identity: ProviderIdentity,
    mode: Mode,
  ): AsyncGenerator<RunEventBody, TurnEnd> {
    const { protocol, protocolConfig, workspace, writePlanTool, clock, patterns } =
      this.#scope.dependencies;
    const leftOut: string[] = [];
    const registry = createToolRegistry(
      [
        createReadFileTool(workspace),
        writePlanTool.tool(async (request, callId) => {
          const begun = await writePlanTool.begin(
            request,
            this.#turnRecord(callId, identity, mode),
          );
          this.#opened.set(callId, begun.handle);
          return begun;
        }),
      ],
      {
        clock,
        patterns,
        redact: this.#scope.dependencies.keys.redact,
        leftOut: (why) => leftOut.push(why),
      },
    );
    for (const why of leftOut) yield notice(why);
    const kept = keepArguments(adapter, workspace);
    this.#kept = kept;
    const context: Omit<ProtocolContext, 'messages'> = {
      mode,
      projectId: this.#scope.ids.projectId,
      requestId: this.#scope.ids.requestId,
      adapter: kept.adapter,
      toolRegistry: registry,
      traceService: this.#scope.dependencies.trace,
      redact: this.#scope.dependencies.keys.redact,
      config: protocolConfig(mode, adapter),
      turnState: this.#scope.state,
      clock,
      signal: this.#scope.signal,
    };
    if (!protocol.canHandle({ ...context, messages: this.#scope.messages })) {
      throw new OrionError({
        code: 'PROTOCOL_UNSUPPORTED',
        message: `The protocol ${protocol.getName()} does not work with ${adapter.name}.`,
      });
    }
    for (;;) {
      const outcome = yield* this.#runOnce({ ...context, messages: this.#scope.messages });
      this.#scope.messages = [...this.#scope.messages, ...outcome.appended];
      if (outcome.kind !== 'handover') return yield* this.#endOf(outcome);
      const end = yield* this.#writeFile({ call: outcome.call, context, registry, identity });
      if (end !== null) return end;
    }
  }

  async *#runOnce(context: ProtocolContext): AsyncGenerator<RunEventBody, ProtocolOutcome> {
    for await (const event of this.#scope.dependencies.protocol.executeStreaming(context)) {
      switch (event.type) {
        case 'outcome':
          return event.outcome;
        case 'tool_calls':
          this.#calls = new Map(event.calls.map((call) => [call.id, call]));
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
          if (event.result.success) {
            await this.#kept?.discard(this.#calls.get(event.result.toolCallId)?.kept ?? []);
          }
          yield {
            type: 'tool_result',
            callId: event.result.toolCallId,
            toolName: event.result.toolName,
            ok: event.result.success,
            summary: event.summary,
            ...(event.result.success ? {} : { error: event.result.error }),
          };
          break;
        case 'usage':
          yield { type: 'usage', ...event.usage };
          break;
        case 'phase':
        case 'chunk':
          yield event;
          break;
        case 'reasoning':
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
        return {
          status: 'incomplete',
          ...(outcome.stopReason === undefined ? {} : { stopReason: outcome.stopReason }),
        };
      case 'stopped':
        return { status: 'stopped', stopReason: outcome.stopReason };
      case 'aborted':
        return { status: 'aborted', stopReason: 'cancelled' };
      case 'error':
        yield { type: 'error', error: outcome.error };
        return {
          status: 'error',
          stopReason:
            outcome.error.code === 'CONTROLLER_INVALID_OUTPUT'
              ? 'invalid_output'
              : 'provider_error',
        };
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
    const settings = this.#scope.dependencies.sessionSettings(context.adapter);
    const { session } = createSession(handle.metadata, settings);
    await this.#saveTurn(handle, call, identity, context.mode);
    this.#scope.begin(handle, call.id);
    this.#scope.remember();
    await this.#scope.dependencies.conversations.settled();
    const outcome = yield* this.#scope.drive(session, context, { kind: 'content' });
    switch (outcome.kind) {
      case 'committed': {
        this.#scope.remember();
        const { state, ids } = this.#scope;
        recordCommittedBegin(state, registry, ids.projectId, call, receiptMessage(outcome.receipt));
        return null;
      }
      case 'paused':
        return yield* pausedEnd(outcome, this.#scope);
      case 'aborted':
        return outcome.code === 'EMPTY_CONTENT'
          ? null
          : { status: 'aborted', stopReason: 'cancelled' };
      case 'lost':
        return yield* lostEnd(handle);
      default:
        return outcome satisfies never;
    }
  }

  /** What a recovery needs to know. Before the handover it lacks begin's own messages. */
  #turnRecord(callId: string, identity: ProviderIdentity, mode: Mode): TurnRecord {
    return {
      version: 1,
      ...this.#scope.ids,
      ...identity,
      protocol: this.#scope.dependencies.protocol.getName(),
      mode,
      callId,
      messages: redactMessages(this.#scope.messages, this.#scope.dependencies.keys.redact),
      options: {},
    };
  }

  async #saveTurn(
    handle: SessionHandle,
    call: ToolCall,
    identity: ProviderIdentity,
    mode: Mode,
  ): Promise<void> {
    try {
      await handle.saveTurn(this.#turnRecord(call.id, identity, mode));
    } catch (error) {
      // A recovery then knows less of the turn, but nothing of the file is lost.
      this.#scope.trace('turn_record_failed', { code: toErrorInfo(error).code });
    }
  }

  async *#recoverOnly(sessionId: string): AsyncGenerator<RunEventBody, TurnEnd> {
    return (yield* recover(this.#scope, sessionId)) ?? { status: 'complete' };
  }

  /** Sessions that were opened but never driven hold nothing: they go. */
  async #giveBack(): Promise<void> {
    for (const handle of this.#opened.values()) {
      this.#scope.dependencies.writePlanTool.forget(handle.id);
      try {
        await handle.remove();
      } catch (error) {
        this.#scope.trace('session_not_removed', { code: toErrorInfo(error).code });
      }
    }
    this.#opened.clear();
  }

  *#storeNotices(record: (body: RunEventBody) => RunEvent): Generator<RunEvent, void> {
    const message = this.#scope.dependencies.takeStoreNotice();
    if (message !== null) yield record(notice(message));
  }
}

/**
 * Calls may begin a session, and what follows `finalizing` changes the target. Other news of a session is not waited
 * for: text goes on arriving behind it.
 */
function precedesEffect(event: RunEventBody): boolean {
  return (
    event.type === 'tool_calls' ||
    (event.type === 'write_session' && event.status === 'session_active.finalizing')
  );
}

function doneOf(end: TurnEnd, parts: readonly string[], protocolReason: string): RunEventBody {
  return {
    type: 'done',
    fullContent: parts.join(''),
    status: end.status,
    protocolReason,
    ...(end.stopReason === undefined ? {} : { stopReason: end.stopReason }),
  };
}

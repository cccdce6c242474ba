import type {
  LlmAdapter,
  Message,
  Mode,
  PendingCalls,
  ProtocolContext,
  ProtocolEvent,
  ProtocolOutcome,
  RefusedFile,
  RunEventBody,
  SessionHandle,
  ToolCall,
  ToolResult,
  TurnRecord,
} from '@orion/contracts';
import { defined, OrionError, toErrorInfo } from '@orion/contracts';
import { createSession } from '@orion/core';
import { recordCommittedBegin } from '@orion/protocols';

import { sessionSettingsOf } from '../config/derived-settings.ts';
import { historyLimit } from '../context/content-messages.ts';
import { systemPromptFacts } from '../context/prompt-facts.ts';
import { systemPrompt } from '../context/system-prompt.ts';
import { redactMessages } from '../keys/redacted-messages.ts';
import type { ProviderIdentity } from '../orion.ts';
import { captureArguments } from './argument-capture.ts';
import {
  beginHeld,
  continueSession,
  removeUnreported,
  untilFree,
} from './continued/left-session.ts';
import type { LeftSession } from './continued/left-turn.ts';
import { resume } from './continued/resume.ts';
import { keptNotice } from './kept-texts.ts';
import { isUnwritten, receiptMessage } from './receipt-message.ts';
import { recover } from './recovered-turn.ts';
import type { WritingEnd } from './recovered-turn.ts';
import type { TurnContext } from './session/session-run.ts';
import { turnContext } from './turn-context.ts';
import { notice, notUsed, unfinishedEnd } from './turn-ends.ts';
import type { TurnEnd, TurnScope, TurnTask } from './turn-scope.ts';
import type { TurnStep } from './turn-step.ts';

/** Answers a message, after the recovery of a session if the task names one; or goes on where another owner was. */
export async function* answer(
  scope: TurnScope,
  { content, mode, recover: sessionId }: Extract<TurnTask, { kind: 'message' }>,
): AsyncGenerator<TurnStep, TurnEnd> {
  let history = scope.earlier;
  if (sessionId !== null) {
    const end = yield* recover(scope, sessionId, null);
    if (end !== null) return end;
    history = scope.history();
    if (content.trim() === '') return { status: 'complete' };
  }
  const { connect, settings } = scope.dependencies;
  const left = scope.owned?.left ?? null;
  if (left !== null) yield* resume(scope, left);
  // A recovered conversation keeps its model.
  const known = left?.checkpoint?.provider ?? scope.recovered?.identity ?? null;
  const { adapter, identity } = await connect(known);
  const { prompt, refused } = await turnPrompt(scope, mode);
  if (refused.length > 0 && left === null) yield notice(notUsed(refused));
  scope.recovered = null;
  const limit = historyLimit(settings, adapter);
  const [message = { role: 'user', content }, ...said] = left?.messages ?? [];
  scope.compose({ role: 'system', content: prompt }, history, message, limit);
  scope.messages = [...scope.messages, ...said];
  return yield* new ProtocolRun(scope, adapter, identity, mode).run();
}

/** Unusable files of the repository are left out, and the turn continues. */
async function turnPrompt(
  scope: TurnScope,
  mode: Mode,
): Promise<{ readonly prompt: string; readonly refused: readonly RefusedFile[] }> {
  const { facts, refused } = await systemPromptFacts(scope.dependencies, mode);
  for (const { name, content, truncated, origin } of facts.instructions) {
    const type = origin === 'user' ? 'user_instructions' : 'project_instructions';
    scope.trace(type, { file: name, characters: content.length, truncated });
  }
  return { prompt: systemPrompt(facts), refused };
}

/** The protocol of one turn, and the files that are written where it hands over. */
class ProtocolRun {
  readonly #scope: TurnScope;
  readonly #identity: ProviderIdentity;
  readonly #context: TurnContext;
  /** Tools that cannot be offered, and why. */
  readonly #leftOut: string[] = [];
  /** Sessions that a tool opened and that nothing has driven yet, by the call. */
  readonly #opened = new Map<string, SessionHandle>();
  /** The calls of the message that is being answered, by the ids that their results name. */
  #calls: ReadonlyMap<string, ToolCall> = new Map();

  constructor(scope: TurnScope, adapter: LlmAdapter, identity: ProviderIdentity, mode: Mode) {
    const { workspace, writePlanTool, approval, ownership } = scope.dependencies;
    const fence = ownership.fence ?? undefined;
    this.#scope = scope;
    this.#identity = identity;
    this.#context = turnContext(
      scope,
      captureArguments(adapter, scope.kept),
      mode,
      async (request, callId) => {
        const { requestId } = scope.ids;
        if ((scope.owned?.left ?? null) !== null) {
          const unreported = { requestId, callId, ...defined({ fence }) };
          // Neither a store that is away nor an owner that has not noticed yet is a result of the call.
          await untilFree(scope, () => removeUnreported(workspace, unreported));
        }
        const record = this.#turnRecord(callId);
        const begun = await beginHeld(scope, () =>
          writePlanTool.begin(request, record, approval, fence),
        );
        this.#opened.set(callId, begun.handle);
        return begun;
      },
      (why) => this.#leftOut.push(why),
    );
  }

  async *run(): AsyncGenerator<TurnStep, TurnEnd> {
    const { protocol } = this.#scope.dependencies;
    const left = this.#scope.owned?.left ?? null;
    if (left === null) for (const why of this.#leftOut) yield notice(why);
    if (!protocol.canHandle({ ...this.#context, messages: this.#scope.messages })) {
      throw new OrionError({
        code: 'PROTOCOL_UNSUPPORTED',
        message: `The protocol ${protocol.getName()} does not work with ${this.#context.adapter.name}.`,
      });
    }
    let pending = left?.pending ?? null;
    try {
      if ((left?.checkpoint ?? null) === null) yield* this.#checkpoint([], null);
      for (;;) {
        const context: ProtocolContext = {
          ...this.#context,
          messages: this.#scope.messages,
          ...defined({ pending: pending ?? undefined }),
        };
        let outcome: ProtocolOutcome | null = null;
        for await (const event of protocol.executeStreaming(context)) {
          if (event.type === 'outcome') {
            ({ outcome } = event);
            break;
          }
          if (event.type === 'checkpoint') {
            yield* this.#checkpoint(event.appended, event.pending);
            continue;
          }
          if (event.type === 'tool_result') await this.#settleKept(event.result);
          if (event.type === 'chunk' && event.source === 'model') {
            await this.#scope.kept.discardAnswer(event.content);
          }
          // What was answered or succeeded of the last message is settled.
          if (event.type === 'phase' && event.phase === 'action') yield* this.#tellKept();
          const step = this.#stepOf(event);
          if (step !== null) yield step;
        }
        if (outcome === null) throw new Error('the protocol ended without an outcome');
        pending = null;
        yield* this.#tellKept();
        this.#scope.messages = [...this.#scope.messages, ...outcome.appended];
        if (outcome.kind !== 'handover') return yield* endOf(outcome);
        const end = yield* this.#writeFile(outcome.call);
        if (end !== null) return end;
      }
    } finally {
      await this.#giveBack();
    }
  }

  /** Another owner could continue here, behind the next event. */
  *#checkpoint(
    appended: readonly Message[],
    pending: PendingCalls | null,
  ): Generator<TurnStep, void> {
    const { owned } = this.#scope;
    if (owned === null) return;
    const opened = [...this.#opened].map(([callId, { id }]) => [callId, id] as const);
    const sessions = { ...this.#leftSessions(), ...Object.fromEntries(opened) };
    const stand = { provider: this.#identity, appended, pending, sessions };
    yield owned.checkpoints.step(this.#scope, stand);
  }

  #leftSessions(): { readonly [callId: string]: string } {
    return this.#scope.owned?.left?.checkpoint?.calls?.sessions ?? {};
  }

  /** What a turn shows of an event of its protocol. */
  #stepOf(
    event: Exclude<ProtocolEvent, { readonly type: 'outcome' | 'checkpoint' }>,
  ): TurnStep | null {
    switch (event.type) {
      case 'tool_calls':
        this.#calls = new Map(event.calls.map((call) => [call.id, call]));
        return { type: 'tool_calls', calls: event.calls.map(publicCall) };
      case 'tool_progress': {
        const { call, progress } = event;
        return { type: 'tool_progress', callId: call.id, toolName: call.name, ...progress };
      }
      case 'tool_result': {
        const { result, summary } = event;
        const { toolCallId: callId, toolName, success: ok, details } = result;
        const error = result.success ? {} : { error: result.error };
        const { output_id: outputId } = details;
        const stored = typeof outputId === 'string' ? { outputRef: outputId } : {};
        return { type: 'tool_result', callId, toolName, ok, summary, ...error, ...stored };
      }
      case 'usage':
        return { type: 'usage', ...event.usage };
      case 'phase':
      case 'chunk':
        return event;
      case 'reasoning':
        return null;
      default:
        return event satisfies never;
    }
  }

  /** The text of a call that succeeded goes; any other result names it. */
  async #settleKept({ success, toolCallId }: ToolResult): Promise<void> {
    const { kept = [] } = this.#calls.get(toolCallId) ?? {};
    if (success) await this.#scope.kept.discard(kept);
    else this.#scope.kept.told(kept);
  }

  /** Of calls that came to nothing, and of what actions were carried out without. */
  async *#tellKept(): AsyncGenerator<RunEventBody, void> {
    for (const text of await this.#scope.kept.takeUntold()) yield notice(keptNotice(text));
  }

  /** The content stage: from begin's tool message to the receipt in its place. Null: the turn continues. */
  async *#writeFile(call: ToolCall): AsyncGenerator<TurnStep, TurnEnd | null> {
    const scope = this.#scope;
    const end = yield* this.#streamFile(call);
    switch (end.kind) {
      case 'committed': {
        scope.remember();
        const { toolRegistry, projectId } = this.#context;
        const answered = receiptMessage(end.receipt);
        recordCommittedBegin(scope.state, toolRegistry, projectId, call, answered);
        yield* this.#checkpoint([], null);
        return null;
      }
      case 'aborted':
        if (!isUnwritten(end.code)) return { status: 'aborted', stopReason: 'cancelled' };
        yield* this.#checkpoint([], null);
        return null;
      case 'ended':
        return end.end;
      default:
        return end satisfies never;
    }
  }

  async *#streamFile(call: ToolCall): AsyncGenerator<RunEventBody, WritingEnd> {
    const scope = this.#scope;
    const handle = this.#opened.get(call.id);
    if (handle === undefined) {
      return yield* continueSession(scope, this.#context, call, this.#leftSession(call));
    }
    const { settings, conversations } = scope.dependencies;
    const sessionSettings = sessionSettingsOf(settings, this.#context.adapter);
    const { session } = createSession(handle.metadata, sessionSettings);
    await this.#saveTurn(handle, call.id);
    scope.begin(handle, call.id);
    scope.remember();
    await scope.owned?.checkpoints.keepConversation(scope);
    await conversations.settled();
    // From here on it is let go by whoever drives it.
    this.#opened.delete(call.id);
    const outcome = yield* scope.drive(session, this.#context, { kind: 'content' });
    if (outcome.kind === 'committed' || outcome.kind === 'aborted') return outcome;
    return { kind: 'ended', end: yield* unfinishedEnd(outcome, handle, scope) };
  }

  /** The session that an earlier owner has opened by this call. */
  #leftSession(call: ToolCall): LeftSession {
    const left = this.#scope.owned?.left ?? null;
    const sessionId = this.#leftSessions()[call.id];
    if (left === null || sessionId === undefined) throw new Error('a handover without a session');
    const { receipt } = left.checkpoint?.calls ?? {};
    return {
      sessionId,
      logged: left.logged.sessions.get(sessionId) ?? null,
      receipt: receipt?.callId === call.id ? receipt.receipt : null,
    };
  }

  /** What a recovery needs to know. Before the handover it lacks begin's own messages. */
  #turnRecord(callId: string): TurnRecord {
    const { protocol, keys } = this.#scope.dependencies;
    return {
      version: 1,
      ...this.#scope.ids,
      ...this.#identity,
      protocol: protocol.getName(),
      mode: this.#context.mode,
      callId,
      messages: redactMessages(this.#scope.messages, keys.redact),
      options: {},
    };
  }

  async #saveTurn(handle: SessionHandle, callId: string): Promise<void> {
    try {
      await handle.saveTurn(this.#turnRecord(callId));
    } catch (error) {
      // A recovery then knows less of the turn, but nothing of the file is lost.
      this.#scope.trace('turn_record_failed', { code: toErrorInfo(error).code });
    }
  }

  /** Sessions that were opened but never driven hold nothing: they go, unless the turn's next owner may drive them. */
  async #giveBack(): Promise<void> {
    const { owned, dependencies } = this.#scope;
    const goesOn = dependencies.ownership.lost.aborted || owned?.handOff.aborted === true;
    for (const handle of this.#opened.values()) {
      dependencies.writePlanTool.forget(handle.id);
      try {
        await (goesOn ? handle.release() : handle.remove());
      } catch (error) {
        this.#scope.trace('session_not_removed', { code: toErrorInfo(error).code });
      }
    }
    this.#opened.clear();
  }
}

/** Without what is only for the provider. */
function publicCall(call: ToolCall): Pick<ToolCall, 'id' | 'name' | 'arguments'> {
  return { id: call.id, name: call.name, arguments: call.arguments };
}

function* endOf(
  outcome: Exclude<ProtocolOutcome, { kind: 'handover' }>,
): Generator<RunEventBody, TurnEnd> {
  switch (outcome.kind) {
    case 'complete':
      return { status: 'complete' };
    case 'incomplete':
      return { status: 'incomplete', ...defined({ stopReason: outcome.stopReason }) };
    case 'stopped':
      return { status: 'stopped', stopReason: outcome.stopReason };
    case 'aborted':
      return { status: 'aborted', stopReason: 'cancelled' };
    case 'error': {
      yield { type: 'error', error: outcome.error };
      const isInvalid = outcome.error.code === 'CONTROLLER_INVALID_OUTPUT';
      return { status: 'error', stopReason: isInvalid ? 'invalid_output' : 'provider_error' };
    }
    case 'message_end':
      throw new Error('a protocol ended like the content stage');
    default:
      return outcome satisfies never;
  }
}

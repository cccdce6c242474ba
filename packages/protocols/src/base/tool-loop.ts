import type {
  Message,
  PendingCalls,
  ProtocolContext,
  ProtocolEvent,
  ProtocolName,
  ToolCall,
  TurnStop,
} from '@orion/contracts';
import { noteMistakes } from '../calls/mistakes.ts';
import { runCalls } from '../calls/run-calls.ts';
import type { CallBatch, CallMessage } from '../calls/run-calls.ts';
import { findStop, mayAnswer } from '../stop-policy/verdict.ts';
import { isUsable } from './history.ts';
import { callModel } from './model-call.ts';
import type { ModelAnswer } from './model-call.ts';
import { isPause, reportIncomplete, whyIncomplete } from './incomplete.ts';
import { notice } from './notices.ts';
import { appendText, betweenMessages, brokenOff, budgetEnd, end, saidBy } from './outcomes.ts';
import { createProtocolTrace } from './protocol-trace.ts';
import type { ProtocolTrace } from './protocol-trace.ts';
import { FINAL_INSTRUCTION, nudge, instructModel } from './stop-notices.ts';

/**
 * The loop of the protocols for models with native tool calls: ask the model, run its calls, ask again with their
 * results, until a message has no calls.
 *
 * 1. Every model call is an action phase, every batch of executed calls a tool phase (R154).
 * 2. The stop policy and the protocol's ceiling are checked before every model call. A stop ends tool use for the
 *    rest of the turn: one last call without tools follows (R170), or none after a budget (R251). No write session is
 *    open at that point: a begin leaves the loop as a handover, and only the budgets apply to the stage that streams
 *    the file.
 * 3. `appended` is valid for a provider on every path: every call in it has an answer (R140).
 * 4. A refused message is not an answer, and none of its calls runs.
 * 5. A run can begin with the calls of a message that another process has left.
 * 6. A result with `next: 'content'` ends the run with `handover`; calls after it are answered, not run (R160).
 */
export type LoopRules = {
  readonly name: ProtocolName;
  /** How many usable calls of a message are run. Reading stops after the last of them. */
  readonly callsPerMessage: number;
  /** The protocol's own limit, if it is reached. Checked before every model call. */
  readonly ceiling: (context: ProtocolContext) => TurnStop | null;
  /** Tells the model, in the last call, why there are no more tools. */
  readonly explain: (stop: TurnStop) => string;
  /** Sent to the model after a message in which no call could be run. Null if the answers to the calls are enough. */
  readonly correction: string | null;
};

export async function* runToolLoop(
  rules: LoopRules,
  context: ProtocolContext,
  signal: AbortSignal,
): AsyncGenerator<ProtocolEvent, void, undefined> {
  const { turnState, toolRegistry, mode } = context;
  const trace = createProtocolTrace(context, rules.name);
  const appended: Message[] = [];
  const tools = rules.callsPerMessage === 0 ? [] : toolRegistry.definitions(mode);
  if (turnState.nextPhaseIndex === 0) trace.toolRegistration(tools);
  const { pending = null } = context;
  const callsEnd = async function* (
    calls: readonly ToolCall[],
    said: CallMessage['said'],
    left: PendingCalls | null,
  ): AsyncGenerator<ProtocolEvent, boolean, undefined> {
    const message = { said, appended, pending: left };
    const batch = yield* runCalls(context, signal, trace, calls, message);
    appended.push(said(batch.historicCalls), ...batch.answers);
    return yield* endsWith(rules, context, trace, calls, batch, appended);
  };
  if (pending !== null) {
    const { calls, said } = pending;
    if (yield* callsEnd(calls, (toolCalls) => ({ ...said, toolCalls }), pending)) return;
  }

  for (;;) {
    if (signal.aborted) return yield end({ kind: 'aborted', appended });

    // The last answer needs its checkpoint, too: what an owner that dies has of it is void.
    yield* betweenMessages(context, appended);
    turnState.stop ??= findStop(context) ?? rules.ceiling(context);
    if (turnState.stop !== null) {
      return yield* finish(rules, context, signal, trace, appended, turnState.stop);
    }

    turnState.iterations += 1;
    const answer = yield* callModel(context, signal, trace, {
      messages: [...context.messages, ...appended],
      tools,
      purpose: 'answer',
      ...(Number.isFinite(rules.callsPerMessage) ? { enoughCalls: rules.callsPerMessage } : {}),
    });
    if (answer.end.kind === 'aborted' || answer.end.kind === 'error') {
      appendText(appended, answer);
      return yield end(brokenOff(answer.end, appended));
    }
    const why = whyIncomplete(answer);
    const calls =
      answer.end.kind === 'cut' || why === 'refused' ? [] : taken(answer, rules.callsPerMessage);
    for (const call of answer.calls) {
      if (!calls.includes(call)) trace.toolCall(turnState.nextPhaseIndex - 1, call, 'ignored');
    }
    if (answer.end.kind === 'cut') {
      appendText(appended, answer);
      turnState.stop = answer.end.stop;
      continue;
    }

    if (calls.length === 0) {
      appendText(appended, answer);
      // Ask again, with the text so far, if there is any.
      if (isPause(answer)) {
        turnState.cyclesUsed += 1;
        continue;
      }
      if (why === null) return yield end({ kind: 'complete', appended });
      yield* reportIncomplete(trace, turnState.nextPhaseIndex - 1, why, answer);
      return yield end({ kind: 'incomplete', appended });
    }

    if (yield* callsEnd(calls, (historicCalls) => saidBy(answer, historicCalls), null)) return;
  }
}

/** What follows the calls of a message. Returns true if the run ends with them. */
async function* endsWith(
  rules: LoopRules,
  context: ProtocolContext,
  trace: ProtocolTrace,
  calls: readonly ToolCall[],
  batch: CallBatch,
  appended: Message[],
): AsyncGenerator<ProtocolEvent, boolean, undefined> {
  const { turnState } = context;
  const onlyDuplicates = batch.duplicates === calls.length;
  if (!onlyDuplicates) turnState.cyclesUsed += 1;
  if (batch.executed > 0) noteMistakes(turnState, []);
  else if (!onlyDuplicates) noteMistakes(turnState, batch.mistakes);
  if (batch.handover !== null) {
    yield end({ kind: 'handover', ...batch.handover, appended });
    return true;
  }
  if (batch.executed === 0 && rules.correction !== null && !calls.some(isUsable)) {
    yield* instructModel(rules.correction, appended);
  }
  yield* nudge(context, trace, batch, appended);
  return false;
}

/** Ends the turn after a stop: asks for the last answer and derives the outcome. */
async function* finish(
  rules: LoopRules,
  context: ProtocolContext,
  signal: AbortSignal,
  trace: ProtocolTrace,
  appended: Message[],
  stop: TurnStop,
): AsyncGenerator<ProtocolEvent, void, undefined> {
  const { turnState } = context;
  trace.budgetExhausted(turnState.nextPhaseIndex, stop);
  if (!mayAnswer(stop, context)) {
    return yield* budgetEnd(stop, appended);
  }
  const explanation = rules.explain(stop);
  yield notice(explanation);
  const answer = yield* callModel(context, signal, trace, {
    // Only for this call: in the stored history, this message would forbid tools in later turns.
    messages: [
      ...context.messages,
      ...appended,
      { role: 'system', content: `${explanation} ${FINAL_INSTRUCTION}` },
    ],
    tools: [],
    purpose: 'final',
  });
  for (const call of answer.calls) trace.toolCall(turnState.nextPhaseIndex - 1, call, 'ignored');
  appendText(appended, answer);
  if (answer.end.kind === 'aborted' || answer.end.kind === 'error') {
    return yield end(brokenOff(answer.end, appended));
  }
  if (answer.end.kind === 'cut' && !answer.isBlank) {
    yield notice('The last answer was cut at the limit of the turn.');
  }
  const why = whyIncomplete(answer);
  if (why !== null) yield* reportIncomplete(trace, turnState.nextPhaseIndex - 1, why, answer);
  if (why === 'blank' || why === 'refused') {
    return yield end({ kind: 'incomplete', stopReason: stop.reason, appended });
  }
  return yield end({ kind: 'stopped', stopReason: stop.reason, appended });
}

/**
 * The usable calls, up to the limit. If there are none, the first broken one, so that the model gets an error for it.
 */
function taken(answer: ModelAnswer, limit: number): ModelAnswer['calls'] {
  if (!Number.isFinite(limit)) return answer.calls;
  const usable = answer.calls.filter(isUsable).slice(0, limit);
  return usable.length > 0 ? usable : answer.calls.slice(0, Math.min(1, limit));
}

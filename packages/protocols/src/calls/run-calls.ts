import { cutText, limitedSignal, toErrorInfo } from '@orion/contracts';
import type {
  AssistantMessage,
  CallProgress,
  JsonValue,
  Message,
  PendingCalls,
  ProtocolContext,
  ProtocolEvent,
  ToolCall,
  ToolMessage,
  ToolResult,
} from '@orion/contracts';
import { historicCall, isUsable, toolMessage } from '../base/history.ts';
import { notice } from '../base/notices.ts';
import type { ProtocolTrace } from '../base/protocol-trace.ts';
import { notePhase } from '../stop-policy/progress.ts';
import type { ExecutedCall } from '../stop-policy/progress.ts';
import { findBudgetStop, millisecondsLeft } from '../stop-policy/verdict.ts';
import { callKey } from './call-key.ts';
import { findExecuted, recordExecuted } from './executed-calls.ts';
import { followProgress } from './follow-progress.ts';
import { mistakeOf } from './mistakes.ts';
import {
  earlierResult,
  failedByRegistry,
  namingKeptText,
  refuseAborted,
  refuseAfterHandover,
  refuseBeyondBudget,
  refuseBroken,
  refuseDuplicate,
  refuseInPlanMode,
  unknownOutcome,
} from './refusals.ts';

/** The message whose calls are run, for a run that reports its checkpoints. */
export type CallMessage = {
  /** As the history keeps it, with calls in their historic form. */
  readonly said: (historicCalls: readonly ToolCall[]) => AssistantMessage;
  /** What the run has added before it. */
  readonly appended: readonly Message[];
  /** What another process has done of it. */
  readonly pending: PendingCalls | null;
};

export type CallBatch = {
  /** The calls as the history keeps them, in the model's order. */
  readonly historicCalls: readonly ToolCall[];
  /** One tool message for each of them, in the same order. */
  readonly answers: readonly ToolMessage[];
  /** The result of each call, in the same order. */
  readonly results: readonly ToolResult[];
  /** How many calls ran. */
  readonly executed: number;
  /** How many calls were refused as duplicates. */
  readonly duplicates: number;
  /** Why calls could not be run. */
  readonly mistakes: readonly string[];
  /** Whether calls ran and returned nothing new. */
  readonly idle: boolean;
  readonly handover: { readonly call: ToolCall; readonly result: ToolResult } | null;
};

type Answered = Extract<CallProgress, { kind: 'answered' }>;

const SHOWN_RESULT = 2048;
const SHOWN_NAME = 100;
const SHOWN_PROGRESS = 200;

/**
 * Runs the calls of one message one after another, in order, and answers each of them.
 *
 * 1. Every call gets exactly one `tool_result` and one tool message, whatever happens to it.
 * 2. The tool phase begins with the first call that runs. If no call runs, there is no tool phase.
 * 3. After a handover or an abort, no further call runs.
 * 4. With `pending`, what another process has done of the message stays done: its answers are kept, and a call that it
 *    began without learning the outcome does not run again.
 */
export async function* runCalls(
  context: ProtocolContext,
  signal: AbortSignal,
  trace: ProtocolTrace,
  calls: readonly ToolCall[],
  message: CallMessage | null = null,
): AsyncGenerator<ProtocolEvent, CallBatch, undefined> {
  const { turnState, toolRegistry, projectId, config } = context;
  const pending = message?.pending ?? null;
  const progress: CallProgress[] = calls.map(
    (_, index) => pending?.progress[index] ?? { kind: 'announced' },
  );
  const historicCalls = calls.map(
    (call, index) => pending?.said.toolCalls?.[index] ?? toHistoricCall(context, call),
  );
  let toolPhase = pending?.toolPhase ?? null;
  const currentPhase = (): number => toolPhase ?? turnState.nextPhaseIndex - 1;
  function* checkpoint(): Generator<ProtocolEvent> {
    if (message === null || context.reportsCheckpoints !== true) return;
    const appended = [...message.appended];
    const said = message.said([...historicCalls]);
    const now = { said, calls, progress: [...progress], toolPhase };
    yield { type: 'checkpoint', appended, pending: now };
  }
  if (pending === null) {
    // In front of the checkpoint: behind it, an owner that dies in between would never say it.
    const blocked = calls.filter((call) => isBlockedInPlanMode(context, call));
    if (blocked.length > 0) yield planNotice(blocked);
    yield* checkpoint();
    yield { type: 'tool_calls', calls };
  }

  for (const [index, call] of calls.entries()) {
    const before = progress[index];
    if (before?.kind === 'answered') continue;
    let result: ToolResult;
    let earlier: JsonValue | undefined;
    const handedOver = progress.some(isHandover);
    const refused =
      before?.kind === 'begun' ? null : refusedBeforehand(context, call, handedOver, signal);
    const duplicateOf =
      refused === null && before?.kind !== 'begun'
        ? findExecuted(turnState, toolRegistry, projectId, call)
        : undefined;
    if (refused !== null) {
      trace.toolCall(currentPhase(), call, 'refused');
      result = refused;
    } else if (duplicateOf !== undefined) {
      turnState.duplicates += 1;
      trace.duplicate(currentPhase(), call, duplicateOf);
      result = refuseDuplicate(call, duplicateOf);
      earlier = earlierResult(duplicateOf);
      yield notice(
        `${shownName(call)} was blocked as DUPLICATE_BLOCKED: the same call was already executed in this turn.`,
      );
    } else {
      if (toolPhase === null) {
        toolPhase = turnState.nextPhaseIndex++;
        yield* checkpoint();
        yield { type: 'phase', phase: 'tool', index: toolPhase };
        trace.phaseStart('tool', toolPhase);
      }
      trace.toolCall(toolPhase, call, 'run');
      result =
        before?.kind === 'begun' ? unknownOutcome(call) : yield* runOne(context, signal, call);
      if (result.attempts > 0) {
        turnState.cycleIndex += 1;
        trace.toolExecuted(toolPhase, result);
      }
      recordExecuted(turnState, toolRegistry, projectId, call, result);
    }

    const told = namingKeptText(call, result);
    const answer = toolMessage(told, earlier);
    trace.toolResult(currentPhase(), told, answer.content.length);
    if (standsShortened(call, result)) historicCalls[index] = shortened(context, call);
    progress[index] = { kind: 'answered', result, answer, isDuplicate: duplicateOf !== undefined };
    yield* checkpoint();
    yield { type: 'tool_result', result: told, summary: toolRegistry.summarize(told) };
    if (config.debugShowToolResults) {
      const shown = context.redact?.(answer.content) ?? answer.content;
      yield notice(`[${shownName(call)}] ${cutText(shown, SHOWN_RESULT)}`);
    }
  }
  const batch = batchOf(context, calls, progress.filter(isAnswered));
  if (toolPhase !== null) {
    const end = batch.handover !== null ? 'handover' : signal.aborted ? 'aborted' : 'complete';
    trace.phaseEnd('tool', toolPhase, end);
  }
  return { ...batch, historicCalls };
}

/** What the answers to all calls of a message come to. */
function batchOf(
  { turnState, toolRegistry, projectId }: ProtocolContext,
  calls: readonly ToolCall[],
  answered: readonly Answered[],
): Omit<CallBatch, 'historicCalls'> {
  const executed: ExecutedCall[] = [];
  const mistakes: string[] = [];
  let handover: CallBatch['handover'] = null;
  for (const [index, call] of calls.entries()) {
    const one = answered[index];
    if (one === undefined) throw new Error('a call without an answer');
    const { result, isDuplicate } = one;
    if (result.attempts > 0) {
      const pollable = toolRegistry.traitsOf(call.name)?.pollable === true;
      executed.push({ signature: callKey(toolRegistry, call, projectId), result, pollable });
    }
    const mistake = isDuplicate ? null : mistakeOf(result);
    if (mistake !== null) mistakes.push(mistake);
    if (isHandover(one)) handover = { call, result };
  }
  return {
    answers: answered.map(({ answer }) => answer),
    results: answered.map(({ result }) => result),
    executed: executed.length,
    duplicates: answered.filter(({ isDuplicate }) => isDuplicate).length,
    mistakes,
    idle: notePhase(turnState.progress, executed),
    handover,
  };
}

function isAnswered(progress: CallProgress): progress is Answered {
  return progress.kind === 'answered';
}

function isHandover(progress: CallProgress): boolean {
  if (progress.kind !== 'answered') return false;
  return progress.result.success && progress.result.next === 'content';
}

/** Runs one call. If the registry violates its contract, that becomes a failed result too (R158). */
async function* runOne(
  context: ProtocolContext,
  signal: AbortSignal,
  call: ToolCall,
): AsyncGenerator<ProtocolEvent, ToolResult, undefined> {
  const { toolRegistry, projectId, requestId, mode, clock, redact } = context;
  // The policy's time limit covers model calls only. Tools have their own limit.
  const limited = limitedSignal(signal, clock, millisecondsLeft(context));
  const running = followProgress(clock, (onProgress) =>
    toolRegistry.executeToolCalls([call], {
      projectId,
      requestId,
      mode,
      signal: limited.signal,
      onProgress,
    }),
  );
  try {
    for (;;) {
      const next = await running.next();
      if (next.done === true) {
        const [result] = next.value;
        if (result === undefined) return failedByRegistry(call, 'The tool gave no result.');
        return { ...result, toolCallId: call.id };
      }
      const { message, ...numbers } = next.value;
      const shown = cutText(redact?.(message) ?? message, SHOWN_PROGRESS);
      yield { type: 'tool_progress', call, progress: { ...numbers, message: shown } };
    }
  } catch (error) {
    return failedByRegistry(call, toErrorInfo(error).message);
  } finally {
    await running.return(undefined as never);
    limited.end();
  }
}

function refusedBeforehand(
  context: ProtocolContext,
  call: ToolCall,
  handedOver: boolean,
  signal: AbortSignal,
): ToolResult | null {
  if (!isUsable(call)) return refuseBroken(call);
  if (isBlockedInPlanMode(context, call)) return refuseInPlanMode(call);
  if (handedOver) return refuseAfterHandover(call);
  if (signal.aborted) return refuseAborted(call);
  const budget = findBudgetStop(context);
  return budget === null ? null : refuseBeyondBudget(call, budget);
}

/** Whether PLAN mode excludes the call's tool, matched by exact name (R177). */
function isBlockedInPlanMode({ mode, toolRegistry }: ProtocolContext, { name }: ToolCall): boolean {
  if (mode !== 'plan' || name.trim() === '') return false;
  return toolRegistry.traitsOf(name)?.inPlanMode !== true;
}

function planNotice(calls: readonly ToolCall[]): ProtocolEvent {
  const names = [...new Set(calls.map(shownName))].join(', ');
  return notice(
    `These tool calls were not run because PLAN mode does not allow them: ${names}. Switch to ACT mode to run them.`,
  );
}

function standsShortened(call: ToolCall, result: ToolResult): boolean {
  if (!isUsable(call)) return true;
  return !result.success && result.error.code === 'ARGUMENTS_TOO_LARGE';
}

/** Before it is known whether it can be run. */
function toHistoricCall({ redact }: ProtocolContext, call: ToolCall): ToolCall {
  return historicCall(call, !isUsable(call), redact);
}

function shortened({ redact }: ProtocolContext, call: ToolCall): ToolCall {
  return historicCall(call, true, redact);
}

function shownName(call: ToolCall): string {
  return cutText(call.name, SHOWN_NAME);
}

import { cutText, limitedSignal, toErrorInfo } from '@orion/contracts';
import type {
  JsonValue,
  Message,
  ProtocolContext,
  ProtocolEvent,
  ToolCall,
  ToolResult,
} from '@orion/contracts';
import { historicCall, isUsable, toolMessage } from '../base/history.ts';
import { notice } from '../base/notices.ts';
import type { ProtocolTrace } from '../base/protocol-trace.ts';
import { notePhase } from '../stop-policy/progress.ts';
import type { ExecutedCall } from '../stop-policy/progress.ts';
import { findBudgetStop, millisecondsLeft } from '../stop-policy/verdict.ts';
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
} from './refusals.ts';

export type CallBatch = {
  /** The calls as the history keeps them, in the model's order. */
  readonly historicCalls: readonly ToolCall[];
  /** One tool message for each of them, in the same order. */
  readonly answers: readonly Message[];
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

const SHOWN_RESULT = 2048;
const SHOWN_NAME = 100;
const SHOWN_PROGRESS = 200;

/**
 * Runs the calls of one message one after another, in order, and answers each of them.
 *
 * 1. Every call gets exactly one `tool_result` and one tool message, whatever happens to it.
 * 2. The tool phase begins with the first call that runs. If no call runs, there is no tool phase.
 * 3. After a handover or an abort, no further call runs.
 */
export async function* runCalls(
  context: ProtocolContext,
  signal: AbortSignal,
  trace: ProtocolTrace,
  calls: readonly ToolCall[],
): AsyncGenerator<ProtocolEvent, CallBatch, undefined> {
  const { turnState, toolRegistry, projectId, config } = context;
  yield { type: 'tool_calls', calls };

  const blocked = calls.filter((call) => isBlockedInPlanMode(context, call));
  if (blocked.length > 0) yield planNotice(blocked);

  const historicCalls: ToolCall[] = [];
  const answers: Message[] = [];
  const results: ToolResult[] = [];
  const mistakes: string[] = [];
  let handover: CallBatch['handover'] = null;
  const executed: ExecutedCall[] = [];
  let duplicates = 0;
  let toolPhase: number | null = null;
  const currentPhase = (): number => toolPhase ?? turnState.nextPhaseIndex - 1;

  for (const call of calls) {
    let result: ToolResult;
    let earlier: JsonValue | undefined;
    const refused = refusedBeforehand(context, call, handover !== null, signal);
    const duplicateOf =
      refused === null ? findExecuted(turnState, toolRegistry, projectId, call) : undefined;
    if (refused !== null) {
      trace.toolCall(currentPhase(), call, 'refused');
      result = refused;
    } else if (duplicateOf !== undefined) {
      turnState.duplicates += 1;
      duplicates += 1;
      trace.duplicate(currentPhase(), call, duplicateOf);
      result = refuseDuplicate(call, duplicateOf);
      earlier = earlierResult(duplicateOf);
      yield notice(
        `${shownName(call)} was blocked as DUPLICATE_BLOCKED: the same call was already executed in this turn.`,
      );
    } else {
      if (toolPhase === null) {
        toolPhase = turnState.nextPhaseIndex++;
        yield { type: 'phase', phase: 'tool', index: toolPhase };
        trace.phaseStart('tool', toolPhase);
      }
      trace.toolCall(toolPhase, call, 'run');
      result = yield* runOne(context, signal, call);
      if (result.attempts > 0) {
        turnState.cycleIndex += 1;
        trace.toolExecuted(toolPhase, result);
        executed.push({
          signature: toolRegistry.signatureOf(call, projectId),
          result,
          pollable: toolRegistry.traitsOf(call.name)?.pollable === true,
        });
      }
      recordExecuted(turnState, toolRegistry, projectId, call, result);
      if (result.success && result.next === 'content') handover = { call, result };
    }

    const mistake = duplicateOf === undefined ? mistakeOf(result) : null;
    if (mistake !== null) mistakes.push(mistake);
    result = namingKeptText(call, result);
    const answer = toolMessage(result, earlier);
    trace.toolResult(currentPhase(), result, answer.content.length);
    historicCalls.push(historicCall(call, standsShortened(call, result), context.redact));
    answers.push(answer);
    results.push(result);
    yield { type: 'tool_result', result, summary: toolRegistry.summarize(result) };
    if (config.debugShowToolResults) {
      const shown = context.redact?.(answer.content) ?? answer.content;
      yield notice(`[${shownName(call)}] ${cutText(shown, SHOWN_RESULT)}`);
    }
  }
  if (toolPhase !== null) {
    trace.phaseEnd(
      'tool',
      toolPhase,
      handover !== null ? 'handover' : signal.aborted ? 'aborted' : 'complete',
    );
  }
  const idle = notePhase(turnState.progress, executed);
  return {
    historicCalls,
    answers,
    results,
    executed: executed.length,
    duplicates,
    mistakes,
    idle,
    handover,
  };
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

function shownName(call: ToolCall): string {
  return cutText(call.name, SHOWN_NAME);
}

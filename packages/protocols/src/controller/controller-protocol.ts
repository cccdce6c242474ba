import { OrionError, createToolNames, cutText } from '@orion/contracts';
import type {
  AssistantMessage,
  KeptArgument,
  Message,
  PendingCalls,
  ProtocolContext,
  ProtocolEvent,
  ToolCall,
  TurnStop,
} from '@orion/contracts';
import { BuiltInProtocol } from '../base/base-protocol.ts';
import type { ProtocolDefaults, ProtocolParts } from '../base/base-protocol.ts';
import { withDistinctIds } from '../base/history.ts';
import { isPause, whyIncomplete } from '../base/incomplete.ts';
import { callModel } from '../base/model-call.ts';
import type { ModelAnswer } from '../base/model-call.ts';
import { notice } from '../base/notices.ts';
import { betweenMessages, brokenOff, budgetEnd, end } from '../base/outcomes.ts';
import { createProtocolTrace } from '../base/protocol-trace.ts';
import type { ProtocolTrace } from '../base/protocol-trace.ts';
import { FINAL_INSTRUCTION, nudge } from '../base/stop-notices.ts';
import { keptNote } from '../calls/refusals.ts';
import { runCalls } from '../calls/run-calls.ts';
import { leftOutMessages, splitKept } from '../calls/unused-texts.ts';
import { findStop, mayAnswer } from '../stop-policy/verdict.ts';
import { parseAction } from './action.ts';
import type { ParsedOutput } from './action.ts';
import { answerOf, finalAnswer, refusedAnswer, say } from './final-answer.ts';
import {
  afterCall,
  beforeCall,
  controllerCeiling,
  controllerLimits,
  explainControllerStop,
} from './limits.ts';
import { CONTROLLER_FORMAT } from './schema.ts';
import { contentStageMessages, controllerMessages } from './text-history.ts';

/**
 * The protocol for models without tool calls of their own: every message is one flat JSON action.
 *
 * 1. Every output is an action or unusable. After unusable output the model is asked again, a limited number of
 *    times; then the turn ends with an error. Nothing is invented in place of an action (R193, R199). After a refusal
 *    the model is not asked again.
 * 2. Requests contain neither tools nor tool messages: the history is rendered as text. A run appends calls and
 *    answers to the history as every protocol does (R140).
 * 3. The user sees messages and questions, never the JSON.
 * 4. Stop policy, budgets, duplicates and PLAN mode apply as everywhere. In addition, the same failure twice and too
 *    many calls for one step end tool use (R200). A step is whatever the model describes as one.
 */
export function createControllerProtocol(defaults?: ProtocolDefaults): BuiltInProtocol {
  const parts: ProtocolParts = {
    name: 'controller',
    canHandle: ({ adapter }) => adapter.structuredOutput,
    contentMessages: contentStageMessages,
    run: runController,
  };
  return new BuiltInProtocol(parts, defaults);
}

const SHOWN_INVALID_OUTPUT = 2048;
const TRACED_THINKING = 2048;

/** The unusable outputs since the last usable one. */
type Invalid = {
  readonly count: number;
  readonly text: string;
  readonly error: string;
  readonly kept: readonly KeptArgument[];
};

/** One model call; `last` are messages for this call only. */
type Ask = (
  purpose: 'answer' | 'final',
  last: readonly Message[],
) => AsyncGenerator<ProtocolEvent, ModelAnswer, undefined>;

async function* runController(
  context: ProtocolContext,
  signal: AbortSignal,
): AsyncGenerator<ProtocolEvent, void, undefined> {
  const { turnState, toolRegistry, mode } = context;
  const { maxInvalidOutputs } = controllerLimits(context.config);
  const trace = createProtocolTrace(context, 'controller');
  const appended: Message[] = [];
  const tools = toolRegistry.definitions(mode);
  if (turnState.nextPhaseIndex === 0) trace.toolRegistration(tools);
  let invalid = null as Invalid | null;
  const { pending = null } = context;
  if (pending !== null) {
    if (yield* runCall(context, signal, trace, pending.calls, appended, pending)) return;
  }

  const ask: Ask = (purpose, last) =>
    callModel(context, signal, trace, {
      messages: controllerMessages([...context.messages, ...appended], tools, last),
      tools: [],
      purpose,
      responseFormat: CONTROLLER_FORMAT,
      // The JSON is not for the user. Its message is shown after it has been parsed.
      show: () => '',
    });

  for (;;) {
    if (signal.aborted) return yield end({ kind: 'aborted', appended });

    yield* betweenMessages(context, appended);
    turnState.stop ??= findStop(context) ?? controllerCeiling(context);
    const { stop } = turnState;
    if (stop !== null) return yield* lastAnswer(context, trace, ask, stop, appended);

    turnState.iterations += 1;
    const answer: ModelAnswer = yield* ask('answer', invalid === null ? [] : correction(invalid));
    if (answer.end.kind === 'aborted' || answer.end.kind === 'error') {
      return yield end(brokenOff(answer.end, appended));
    }
    if (answer.end.kind === 'cut') {
      turnState.stop = answer.end.stop;
      continue;
    }
    const phaseIndex = turnState.nextPhaseIndex - 1;
    for (const call of answer.calls) trace.toolCall(phaseIndex, call, 'ignored');

    if (answer.isBlank && isPause(answer)) continue;
    const parsed = parseAnswer(context, answer);
    if (whyIncomplete(answer) === 'refused') {
      if (parsed.ok) traceAction(trace, phaseIndex, parsed);
      return yield* refusedAnswer(trace, phaseIndex, answer, parsed, null, appended);
    }
    if (!parsed.ok) {
      const { text, kept = [] } = answer;
      const repeated = invalid?.text === text;
      invalid = { count: (invalid?.count ?? 0) + 1, text, error: parsed.error, kept };
      trace.note('controller_invalid', phaseIndex, {
        error: parsed.error,
        count: invalid.count,
        textLength: answer.text.length,
      });
      if (repeated || invalid.count > maxInvalidOutputs) {
        const error = new OrionError({
          code: 'CONTROLLER_INVALID_OUTPUT',
          message: parsed.error,
        }).toInfo();
        trace.errorOccurred(phaseIndex, error);
        return yield end({ kind: 'error', error, appended });
      }
      yield notice(`The model's output could not be used; it was asked again (${parsed.error}).`);
      continue;
    }
    invalid = null;
    const { action } = parsed;
    traceAction(trace, phaseIndex, parsed);
    if (action.kind !== 'tool') {
      yield* say(answerOf(action), answer.kept, appended);
      return yield end({ kind: 'complete', appended });
    }

    turnState.stop = beforeCall(context, action.description);
    if (turnState.stop !== null) continue;

    const { used, left } = splitKept(answer.kept, action.args);
    const called: ToolCall = {
      id: `step_${phaseIndex}`,
      name: action.tool,
      arguments: JSON.stringify(action.args),
      state: 'complete',
      ...(used.length > 0 && { kept: used }),
    };
    const calls = withDistinctIds([called], [...context.messages, ...appended], phaseIndex);
    if (yield* runCall(context, signal, trace, calls, appended, null)) return;
    appended.push(...leftOutMessages(left));
  }
}

/** Runs the call of an action and takes its answer into the history. Returns true if the run ends with it. */
async function* runCall(
  context: ProtocolContext,
  signal: AbortSignal,
  trace: ProtocolTrace,
  calls: readonly ToolCall[],
  appended: Message[],
  pending: PendingCalls | null,
): AsyncGenerator<ProtocolEvent, boolean, undefined> {
  const { turnState } = context;
  const said = (toolCalls: readonly ToolCall[]): AssistantMessage => ({
    role: 'assistant',
    content: '',
    toolCalls,
  });
  const message = { said, appended, pending };
  const batch = yield* runCalls(context, signal, trace, calls, message);
  appended.push(said(batch.historicCalls), ...batch.answers);
  if (batch.handover !== null) {
    yield end({ kind: 'handover', ...batch.handover, appended });
    return true;
  }
  const [call] = calls;
  if (call !== undefined) turnState.stop = afterCall(context, call, batch.results[0]);
  if (turnState.stop === null) yield* nudge(context, trace, batch, appended);
  return false;
}

/** Ends the turn after a stop: asks for the last answer and derives the outcome. */
async function* lastAnswer(
  context: ProtocolContext,
  trace: ProtocolTrace,
  ask: Ask,
  stop: TurnStop,
  appended: Message[],
): AsyncGenerator<ProtocolEvent, void, undefined> {
  const { turnState } = context;
  trace.budgetExhausted(turnState.nextPhaseIndex, stop);
  if (!mayAnswer(stop, context)) {
    return yield* budgetEnd(stop, appended);
  }
  const explanation = explainControllerStop(stop);
  yield notice(explanation);
  const answer = yield* ask('final', [
    { role: 'system', content: `${explanation} ${FINAL_INSTRUCTION} Use action complete.` },
  ]);
  if (answer.end.kind === 'aborted' || answer.end.kind === 'error') {
    return yield end(brokenOff(answer.end, appended));
  }
  const parsed = parseNamed(context, answer.text);
  const phaseIndex = turnState.nextPhaseIndex - 1;
  if (parsed.ok) traceAction(trace, phaseIndex, parsed);
  if (whyIncomplete(answer) === 'refused') {
    return yield* refusedAnswer(trace, phaseIndex, answer, parsed, stop, appended);
  }
  return yield* finalAnswer(answer, parsed, stop, appended);
}

/** A cut answer gets its own error, because asking for the same answer again would cut it again. */
function parseAnswer(context: ProtocolContext, answer: ModelAnswer): ParsedOutput {
  const parsed = parseNamed(context, answer.text);
  if (parsed.ok || answer.end.kind !== 'finish' || answer.end.reason !== 'length') return parsed;
  return {
    ok: false,
    error: 'Invalid controller output: cut at the output limit; answer in fewer words',
  };
}

/** With the tool's own name, whichever one the model used. */
function parseNamed({ toolRegistry, mode }: ProtocolContext, text: string): ParsedOutput {
  const parsed = parseAction(text);
  if (!parsed.ok || parsed.action.kind !== 'tool') return parsed;
  const names = createToolNames(toolRegistry.definitions(mode).map(({ name }) => name));
  return {
    ...parsed,
    action: { ...parsed.action, tool: names.fromWire(parsed.action.tool.trim()) },
  };
}

/** For the next call only: the unusable output, and why it was unusable. */
function correction(invalid: Invalid): readonly Message[] {
  return [
    { role: 'assistant', content: cutText(invalid.text, SHOWN_INVALID_OUTPUT) },
    {
      role: 'system',
      content: [
        `${invalid.error}. Nothing was done.`,
        ...keptNote(invalid.kept),
        'Answer again with exactly one flat JSON object.',
      ].join(' '),
    },
  ];
}

function traceAction(
  trace: ProtocolTrace,
  phaseIndex: number,
  { action, ignored }: Extract<ParsedOutput, { ok: true }>,
): void {
  const thinking = 'thinking' in action ? action.thinking : null;
  trace.note('controller_action', phaseIndex, {
    kind: action.kind,
    ...(action.kind === 'tool' ? { tool: action.tool, description: action.description } : {}),
    ...(action.kind === 'ask_user' ? { resume_to: action.resumeTo } : {}),
    ...(action.kind === 'guardrail_stop' ? { reason: action.reason } : {}),
    ...(thinking === null ? {} : { thinking: cutText(JSON.stringify(thinking), TRACED_THINKING) }),
    ...(ignored.length === 0 ? {} : { ignored }),
  });
}

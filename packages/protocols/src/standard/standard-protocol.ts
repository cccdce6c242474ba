import type {
  Message,
  ProtocolContext,
  ProtocolEvent,
  ProtocolOutcome,
  StopReason,
  SystemMessage,
} from '@orion/contracts';
import { BaseProtocol } from '../base/base-protocol.ts';
import { callModel } from '../base/model-call.ts';
import type { ModelAnswer } from '../base/model-call.ts';
import { createProtocolTrace } from '../base/protocol-trace.ts';
import { runCalls } from './run-calls.ts';

/**
 * The protocol for models with native tool calls.
 *
 * 1. A model call, then all calls of its message in their order, then the next model call with their results;
 *    a message without calls ends the run (R161).
 * 2. `turnState.iterations` counts model calls with tools, over all runs of a turn. At the limit one last call
 *    goes out without tools (R162); the same after too many duplicates and after a second message in a row of
 *    which no call could be run (R164).
 * 3. Every model call is an action phase, every batch of executed calls a tool phase (R154).
 * 4. `appended` is valid for a provider on every path: each call id in it has its answer (R140).
 * 5. A result with `next: 'content'` ends the run with `handover`; the calls after it are answered, not run (R160).
 */
export class StandardProtocol extends BaseProtocol {
  override getName(): string {
    return 'standard';
  }

  override canHandle(_context: ProtocolContext): boolean {
    return true;
  }

  protected override run(
    context: ProtocolContext,
    signal: AbortSignal,
  ): AsyncIterator<ProtocolEvent, unknown, undefined> {
    return runStandard(context, signal);
  }
}

export function createStandardProtocol(): StandardProtocol {
  return new StandardProtocol();
}

/** Messages in a row of which no call ran; the first one is worth a correction, the second one ends tool use. */
const CORRECTIVE_ITERATIONS = 1;

type Stop = { readonly stopReason: StopReason; readonly limit: string; readonly value: number };

async function* runStandard(
  context: ProtocolContext,
  signal: AbortSignal,
): AsyncGenerator<ProtocolEvent, void, undefined> {
  const { turnState, toolRegistry, mode } = context;
  const trace = createProtocolTrace(context, 'standard');
  const appended: Message[] = [];
  const tools = toolRegistry.definitions(mode);
  if (turnState.nextPhaseIndex === 0) trace.toolRegistration(tools);
  let refusedInARow = 0;

  for (;;) {
    if (signal.aborted) return yield end({ kind: 'aborted', appended });

    const stop = findStop(context, refusedInARow);
    if (stop !== null) {
      trace.budgetExhausted(turnState.nextPhaseIndex, stop.stopReason, stop.limit, stop.value);
      const answer = yield* callModel(context, signal, trace, {
        messages: [...context.messages, ...appended, finalInstruction(stop)],
        tools: [],
        purpose: 'final',
      });
      for (const call of answer.calls) {
        trace.toolCall(turnState.nextPhaseIndex - 1, call, 'ignored');
      }
      appendText(appended, answer);
      const broken = brokenOff(answer, appended);
      if (broken !== null) return yield end(broken);
      if (isBlank(answer)) yield noAnswer;
      return yield end({ kind: 'stopped', stopReason: stop.stopReason, appended });
    }

    turnState.iterations += 1;
    const answer = yield* callModel(context, signal, trace, {
      messages: [...context.messages, ...appended],
      tools,
      purpose: 'answer',
    });
    const broken = brokenOff(answer, appended);
    if (broken !== null) {
      appendText(appended, answer);
      return yield end(broken);
    }
    const finish = answer.end.kind === 'finish' ? answer.end.reason : 'stop';

    if (answer.calls.length === 0) {
      appendText(appended, answer);
      if (isBlank(answer)) {
        yield noAnswer;
        return yield end({ kind: 'incomplete', appended });
      }
      // A pause is no end: the provider asks to be called again with what it has said so far.
      if (finish === 'pause') continue;
      if (finish === 'length') {
        yield notice('The answer was cut at the output limit of the model.');
        return yield end({ kind: 'incomplete', appended });
      }
      return yield end({ kind: 'complete', appended });
    }

    const batch = yield* runCalls(context, signal, trace, answer.calls);
    appended.push(
      { role: 'assistant', content: answer.text, toolCalls: batch.historicCalls },
      ...batch.answers,
    );
    if (batch.handover !== null) {
      return yield end({ kind: 'handover', ...batch.handover, appended });
    }
    refusedInARow = batch.executed === 0 ? refusedInARow + 1 : 0;
  }
}

function findStop(context: ProtocolContext, refusedInARow: number): Stop | null {
  const { turnState, config } = context;
  const { iterations, duplicates } = turnState;
  if (duplicates > 0 && duplicates >= config.maxDuplicateAttempts) {
    return { stopReason: 'duplicates', limit: 'maxDuplicateAttempts', value: duplicates };
  }
  if (refusedInARow > CORRECTIVE_ITERATIONS) {
    return { stopReason: 'invalid_output', limit: 'correctiveIterations', value: refusedInARow };
  }
  if (iterations >= config.maxIterations) {
    return { stopReason: 'ceiling', limit: 'maxIterations', value: iterations };
  }
  return null;
}

/** Sent with the last call only: in the stored history it would forbid tools to later turns. */
function finalInstruction(stop: Stop): SystemMessage {
  const reason =
    stop.stopReason === 'duplicates'
      ? 'Maximum duplicate attempts reached.'
      : stop.stopReason === 'ceiling'
        ? `Maximum tool iterations (${stop.value}) reached.`
        : 'None of the tool calls could be run.';
  return { role: 'system', content: `${reason} Answer now with existing results.` };
}

function brokenOff(answer: ModelAnswer, appended: readonly Message[]): ProtocolOutcome | null {
  switch (answer.end.kind) {
    case 'finish':
      return null;
    case 'aborted':
      return { kind: 'aborted', appended };
    case 'error':
      return { kind: 'error', error: answer.end.error, appended };
  }
}

function isBlank(answer: ModelAnswer): boolean {
  return !/\S/.test(answer.text);
}

/** Without its calls: those of a message that broke off were never asked for in full. */
function appendText(appended: Message[], answer: ModelAnswer): void {
  if (!isBlank(answer)) appended.push({ role: 'assistant', content: answer.text });
}

function end(outcome: ProtocolOutcome): ProtocolEvent {
  return { type: 'outcome', outcome };
}

function notice(content: string): ProtocolEvent {
  return { type: 'chunk', content, source: 'notice' };
}

const noAnswer: ProtocolEvent = notice('No final answer was produced.');

import { defined } from '@orion/contracts';
import type {
  AssistantMessage,
  Message,
  ProtocolContext,
  ProtocolEvent,
  ProtocolOutcome,
} from '@orion/contracts';
import {
  BaseProtocol,
  callModel,
  createProtocolTrace,
  findStop,
  ownLimits,
  ownMemory,
  runCalls,
  reportIncomplete,
  whyIncomplete,
} from '@orion/protocols';

const NAME = 'one-look';
const LIMITS = { maxLooks: 1 };

/** A model may look around once, with as many calls as it likes; then it answers. */
export class OneLookProtocol extends BaseProtocol {
  override getName(): string {
    return NAME;
  }

  override canHandle(_context: ProtocolContext): boolean {
    return true;
  }

  protected override run(
    context: ProtocolContext,
    signal: AbortSignal,
  ): AsyncIterator<ProtocolEvent, unknown, undefined> {
    return oneLook(context, signal);
  }
}

async function* oneLook(
  context: ProtocolContext,
  signal: AbortSignal,
): AsyncGenerator<ProtocolEvent, void, undefined> {
  const { turnState, toolRegistry, mode } = context;
  const { maxLooks } = ownLimits(context.config, NAME, LIMITS);
  const memory = ownMemory(turnState, NAME, () => ({ looks: 0 }));
  const trace = createProtocolTrace(context, NAME);
  const appended: Message[] = [];
  const end = (outcome: ProtocolOutcome): ProtocolEvent => ({ type: 'outcome', outcome });

  for (;;) {
    if (signal.aborted) return yield end({ kind: 'aborted', appended });
    const stop = findStop(context);
    if (stop !== null) {
      return yield end({ kind: 'stopped', stopReason: stop.reason, appended });
    }

    // Remembered over the whole turn: a run that goes on after a written file has looked already.
    const mayLook = memory.looks < maxLooks;
    if (mayLook) memory.looks += 1;
    turnState.iterations += 1;
    const answer = yield* callModel(context, signal, trace, {
      messages: [...context.messages, ...appended],
      tools: mayLook ? toolRegistry.definitions(mode) : [],
      purpose: mayLook ? 'answer' : 'final',
    });
    const message: AssistantMessage = {
      role: 'assistant',
      content: answer.text,
      ...defined({ providerData: answer.providerData }),
    };
    const said: Message[] = answer.isBlank ? [] : [message];

    switch (answer.end.kind) {
      case 'aborted':
        return yield end({ kind: 'aborted', appended: [...appended, ...said] });
      case 'error':
        return yield end({
          kind: 'error',
          error: answer.end.error,
          appended: [...appended, ...said],
        });
      case 'cut':
        appended.push(...said);
        return yield end({ kind: 'stopped', stopReason: answer.end.stop.reason, appended });
      case 'finish':
      case 'enough_calls':
        break;
    }
    const why = whyIncomplete(answer);
    if (!mayLook || answer.calls.length === 0 || why === 'refused') {
      appended.push(...said);
      if (why === null) return yield end({ kind: 'complete', appended });
      yield* reportIncomplete(trace, turnState.nextPhaseIndex - 1, why, answer);
      return yield end({ kind: 'incomplete', appended });
    }

    // Every call gets exactly one answer, whatever becomes of it, and so does the history.
    const batch = yield* runCalls(context, signal, trace, answer.calls);
    appended.push({ ...message, toolCalls: batch.historicCalls }, ...batch.answers);
    if (batch.handover !== null)
      return yield end({ kind: 'handover', ...batch.handover, appended });
  }
}

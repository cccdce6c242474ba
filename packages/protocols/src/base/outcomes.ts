import { defined } from '@orion/contracts';
import type {
  AssistantMessage,
  Message,
  ProtocolContext,
  ProtocolEvent,
  ProtocolOutcome,
  ToolCall,
  TurnStop,
} from '@orion/contracts';
import type { ModelAnswer } from './model-call.ts';
import { notice } from './notices.ts';

export function end(outcome: ProtocolOutcome): ProtocolEvent {
  return { type: 'outcome', outcome };
}

export function brokenOff(
  broken: Extract<ModelAnswer['end'], { kind: 'aborted' | 'error' }>,
  appended: readonly Message[],
): ProtocolOutcome {
  return broken.kind === 'aborted'
    ? { kind: 'aborted', appended }
    : { kind: 'error', error: broken.error, appended };
}

/** After a budget is used up, the model is not called again (R251). */
export function* budgetEnd(
  stop: TurnStop,
  appended: readonly Message[],
): Generator<ProtocolEvent, void> {
  yield notice(`The turn was stopped: its ${stop.limit} of ${stop.value} is used up.`);
  yield end({ kind: 'stopped', stopReason: stop.reason, appended });
}

/** Leaves out the calls: if a message broke off, its calls may be incomplete. */
export function appendText(appended: Message[], answer: ModelAnswer): void {
  if (!answer.isBlank) appended.push(saidBy(answer));
}

/** An answer as the history keeps it, with the data that its provider wants back. */
export function saidBy(
  { text, providerData }: ModelAnswer,
  toolCalls?: readonly ToolCall[],
): AssistantMessage {
  return { role: 'assistant', content: text, ...defined({ toolCalls, providerData }) };
}

/** Another process could continue here, once something was added and no message is incomplete. */
export function* betweenMessages(
  { reportsCheckpoints }: ProtocolContext,
  appended: readonly Message[],
): Generator<ProtocolEvent, void> {
  if (reportsCheckpoints !== true || appended.length === 0) return;
  yield { type: 'checkpoint', appended: [...appended], pending: null };
}

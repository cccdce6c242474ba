import type { Message, ProtocolContext, ProtocolEvent, TurnStop } from '@orion/contracts';
import type { CallBatch } from '../calls/run-calls.ts';
import { notice } from './notices.ts';
import type { ProtocolTrace } from './protocol-trace.ts';

/** Said before the stop policy ends a turn that goes in circles. */
export const NUDGE: string =
  'The last tool calls brought nothing new. Use the results that you have, or try something else; repeating them ends the turn.';

/** Ends the system message of the last call; why stands before it. */
export const FINAL_INSTRUCTION: string = 'Answer now with existing results.';

/** The reasons that all protocols share; a ceiling is worded by its protocol. */
export function explainStop(stop: TurnStop): string {
  switch (stop.reason) {
    case 'duplicates':
      return 'Maximum duplicate attempts reached.';
    case 'progress':
      return `The last ${stop.value} tool phases brought nothing new.`;
    case 'time':
      return `The time for tool use (${stop.value} s) is over.`;
    case 'tokens':
      return `The tokens for tool use (${stop.value}) are used up.`;
    default:
      return 'None of the tool calls could be run.';
  }
}

/** One phase before the policy would end the turn, the model is told so. */
export function* nudge(
  context: ProtocolContext,
  trace: ProtocolTrace,
  batch: Pick<CallBatch, 'idle'>,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  const { turnState, config } = context;
  const { idlePhases } = turnState.progress;
  if (!batch.idle || idlePhases !== config.maxIdleToolPhases - 1) return;
  trace.note('nudge', turnState.nextPhaseIndex - 1, { idlePhases });
  yield* instructModel(NUDGE, appended);
}

/** To the model as a system message, to the person as a notice (R141). */
export function* instructModel(
  content: string,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  appended.push({ role: 'system', content });
  yield notice(content);
}

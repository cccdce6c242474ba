import type { Message, ProtocolContext, ProtocolEvent, TurnStop } from '@orion/contracts';
import type { CallBatch } from '../calls/run-calls.ts';
import { notice } from './notices.ts';
import type { ProtocolTrace } from './protocol-trace.ts';

/** Sent before the stop policy ends a turn that repeats itself. */
export const NUDGE: string =
  'The last tool calls brought nothing new. Use the results that you have, or try something else; repeating them ends the turn.';

/** Ends the system message of the last call, after the explanation. */
export const FINAL_INSTRUCTION: string = 'Answer now with existing results.';

/** Explains the stops that all protocols share. Each protocol explains its own ceiling. */
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

/** Warns the model one phase before the policy would end the turn. */
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

/** Sends a text to the model as a system message and to the user as a notice (R141). */
export function* instructModel(
  content: string,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  appended.push({ role: 'system', content });
  yield notice(content);
}

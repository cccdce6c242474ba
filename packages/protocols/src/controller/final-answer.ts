import type { Message, ProtocolEvent, TurnStop } from '@orion/contracts';
import { reportIncomplete } from '../base/incomplete.ts';
import { NO_ANSWER, notice } from '../base/notices.ts';
import { end } from '../base/outcomes.ts';
import type { ProtocolTrace } from '../base/protocol-trace.ts';
import type { ControllerAction, ParsedOutput } from './action.ts';

/** The answer after a stop: what it says is said, what it wants to do is not done. */
export function* finalAnswer(
  text: string,
  parsed: ParsedOutput,
  stop: TurnStop,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  const message = messageOf(text, parsed);
  if (message === null) {
    yield notice(NO_ANSWER);
    return yield end({ kind: 'incomplete', stopReason: stop.reason, appended });
  }
  yield* say(message, appended);
  yield end({ kind: 'stopped', stopReason: stop.reason, appended });
}

/** A message that was refused: asked again, the model would only be refused again. */
export function* refusedAnswer(
  trace: ProtocolTrace,
  phaseIndex: number,
  text: string,
  parsed: ParsedOutput,
  stop: TurnStop | null,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  const message = messageOf(text, parsed);
  if (message !== null) yield* say(message, appended);
  yield* reportIncomplete(trace, phaseIndex, 'refused', { text, isBlank: message === null });
  const stopReason = stop === null ? {} : { stopReason: stop.reason };
  yield end({ kind: 'incomplete', ...stopReason, appended });
}

function messageOf(text: string, parsed: ParsedOutput): string | null {
  if (parsed.ok) return parsed.action.kind === 'tool' ? null : answerOf(parsed.action);
  // A model that ends its turn in plain words has answered; there is no action left to take by mistake.
  return isProse(text) ? text : null;
}

function isProse(text: string): boolean {
  return /\S/.test(text) && !/^\s*(?:[{[]|```)/.test(text);
}

/** What the person reads, and what the history keeps as the model's answer. */
export function* say(message: string, appended: Message[]): Generator<ProtocolEvent, void> {
  appended.push({ role: 'assistant', content: message });
  yield { type: 'chunk', content: message, source: 'model' };
}

export function answerOf(action: Exclude<ControllerAction, { kind: 'tool' }>): string {
  switch (action.kind) {
    case 'complete':
      return action.message;
    case 'ask_user':
      return action.context === null ? action.question : `${action.context}\n\n${action.question}`;
    case 'guardrail_stop':
      return action.message ?? action.reason;
  }
}

import type { KeptArgument, Message, ProtocolEvent, TurnStop } from '@orion/contracts';
import { reportIncomplete } from '../base/incomplete.ts';
import type { ModelAnswer } from '../base/model-call.ts';
import { NO_ANSWER, notice } from '../base/notices.ts';
import { end } from '../base/outcomes.ts';
import type { ProtocolTrace } from '../base/protocol-trace.ts';
import { keptPlace } from '../calls/refusals.ts';
import { splitKept } from '../calls/unused-texts.ts';
import type { ControllerAction, ParsedOutput } from './action.ts';

/** The answer after a stop. Its message is shown, but its action is not carried out. */
export function* finalAnswer(
  { text, kept }: ModelAnswer,
  parsed: ParsedOutput,
  stop: TurnStop,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  const message = messageOf(text, parsed);
  if (message === null) {
    yield notice(NO_ANSWER);
    return yield end({ kind: 'incomplete', stopReason: stop.reason, appended });
  }
  yield* say(message, parsed.ok ? kept : [], appended);
  yield end({ kind: 'stopped', stopReason: stop.reason, appended });
}

/** Ends the turn after a refusal. Asking again would only be refused again. */
export function* refusedAnswer(
  trace: ProtocolTrace,
  phaseIndex: number,
  { text, kept }: ModelAnswer,
  parsed: ParsedOutput,
  stop: TurnStop | null,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  const message = messageOf(text, parsed);
  if (message !== null) yield* say(message, parsed.ok ? kept : [], appended);
  yield* reportIncomplete(trace, phaseIndex, 'refused', { text, isBlank: message === null });
  const stopReason = stop === null ? {} : { stopReason: stop.reason };
  yield end({ kind: 'incomplete', ...stopReason, appended });
}

function messageOf(text: string, parsed: ParsedOutput): string | null {
  if (parsed.ok) return parsed.action.kind === 'tool' ? null : answerOf(parsed.action);
  // Plain text is accepted as the last answer: no action can follow, so nothing can be misread as
  // one.
  return isProse(text) ? text : null;
}

function isProse(text: string): boolean {
  return /\S/.test(text) && !/^\s*(?:[{[]|```)/.test(text);
}

/**
 * Shows a message to the user and keeps it in the history as the model's answer, with the places of those texts of its
 * action (`kept`) that are not the message: later turns read no system message of this one.
 */
export function* say(
  message: string,
  kept: readonly KeptArgument[] | undefined,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  const { left } = splitKept(kept, message);
  const content = [message, ...left.map((text) => `(${keptPlace(text)})`)].join('\n\n');
  appended.push({ role: 'assistant', content });
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

import type { Message, ProtocolEvent, TurnStop } from '@orion/contracts';
import { NO_ANSWER } from '../base/notices.ts';
import { end } from '../base/outcomes.ts';
import type { ControllerAction, ParsedOutput } from './action.ts';

/** The answer after a stop: what it says is said, what it wants to do is not done. */
export function* finalAnswer(
  text: string,
  parsed: ParsedOutput,
  stop: TurnStop,
  appended: Message[],
): Generator<ProtocolEvent, void> {
  let message: string | null = null;
  if (parsed.ok) {
    if (parsed.action.kind !== 'tool') message = answerOf(parsed.action);
  } else if (isProse(text)) {
    // A model that ends its turn in plain words has answered; there is no action left to take by mistake.
    message = text;
  }
  if (message === null) {
    yield NO_ANSWER;
    return yield end({ kind: 'incomplete', stopReason: stop.reason, appended });
  }
  yield* say(message, appended);
  yield end({ kind: 'stopped', stopReason: stop.reason, appended });
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

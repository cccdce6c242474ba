import type { ProtocolEvent } from '@orion/contracts';
import type { ModelAnswer } from './model-call.ts';
import { NO_ANSWER, notice } from './notices.ts';
import type { ProtocolTrace } from './protocol-trace.ts';

/** Why a message that ended normally is not a complete answer. */
export type Incomplete = 'blank' | 'refused' | 'cut';

const REFUSED = 'The model or its provider refused to answer.';
const CUT = 'The answer was cut at the output limit of the model.';

/** Null if the answer is complete. A refusal outranks the other reasons; it may come with or without text (R153). */
export function whyIncomplete(answer: Pick<ModelAnswer, 'isBlank' | 'end'>): Incomplete | null {
  const reason = answer.end.kind === 'finish' ? answer.end.reason : 'stop';
  if (reason === 'refusal') return 'refused';
  if (answer.isBlank) return 'blank';
  return reason === 'length' ? 'cut' : null;
}

/** A pause is not an end: the provider asks to be called again. */
export function isPause({ end }: Pick<ModelAnswer, 'end'>): boolean {
  return end.kind === 'finish' && end.reason === 'pause';
}

/** Reports it to the user as a notice, and a refusal to the trace as well. `isBlank`: none of the message was shown. */
export function* reportIncomplete(
  trace: ProtocolTrace,
  phaseIndex: number,
  why: Incomplete,
  { text, isBlank }: Pick<ModelAnswer, 'text' | 'isBlank'>,
): Generator<ProtocolEvent, void> {
  switch (why) {
    case 'blank':
      return yield notice(NO_ANSWER);
    case 'refused':
      trace.note('model_refused', phaseIndex, { textLength: text.length });
      return yield notice(isBlank ? `${NO_ANSWER} ${REFUSED}` : REFUSED);
    case 'cut':
      return yield notice(CUT);
  }
}

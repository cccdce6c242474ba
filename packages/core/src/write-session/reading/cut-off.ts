import type { EndCandidate } from '@orion/contracts';

import type { ControlEvent, MessageEnd } from '../control.ts';
import { endingQuestion } from '../questions/end.ts';
import { NOT_READING } from '../session.ts';
import type { Step } from '../step.ts';
import type { NearMiss } from '../text/markers/marker-reader.ts';

/** The end of a message of which nothing arrived. */
export function endWithoutText(step: Step, end: MessageEnd): void {
  step.update({ reading: NOT_READING });
  endOpen(step, end);
}

/** The end of a message without content. */
export function endOpen(step: Step, end: MessageEnd): void {
  if (end.kind === 'stop') step.dispatch({ type: 'message_end_open' });
  else cutOff(step, end);
}

/** The event for a message whose end leaves a question open, which includes what was open before. */
export function endingEvent(
  step: Step,
  candidates: readonly EndCandidate[],
  nearMiss: NearMiss | null = null,
): ControlEvent {
  const question = endingQuestion(candidates, nearMiss);
  if (question === null) return { type: 'message_end_open' };
  step.settleEnds();
  return { type: 'message_end_question', question };
}

/** The message ended before the model finished it. */
export function cutOff(
  step: Step,
  end: Exclude<MessageEnd, { kind: 'stop' }>,
  { progress = false, afterDone = false }: { progress?: boolean; afterDone?: boolean } = {},
): void {
  const { control } = step.session;
  // A reply to an open question is not content. If a connection breaks after a DONE, the text is most likely complete; if
  // the model ran out of tokens there, it may have been writing a list of things that are DONE.
  const mayLackMore = !afterDone || end.kind === 'length';
  if (control.kind === 'awaiting_more' && control.question === null && mayLackMore)
    step.update({ cutOff: true });
  if (end.kind === 'length') {
    step.dispatch({ type: 'message_end_length', progress });
    return;
  }
  step.update({ message: end.message });
  step.dispatch({
    type: 'stream_error',
    code: end.code,
    retryable: end.retryable,
    afterDone,
    progress,
  });
}

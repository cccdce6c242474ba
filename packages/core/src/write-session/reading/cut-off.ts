import type { EndCandidate } from '@orion/contracts';

import type { ControlEvent, MessageEnd } from '../control.ts';
import { endingQuestion } from '../questions/end.ts';
import { NOT_READING } from '../session.ts';
import type { Step } from '../step.ts';
import type { NearMiss } from '../text/markers/marker-reader.ts';

/** A message of which nothing arrived. */
export function endWithoutText(step: Step, end: MessageEnd): void {
  step.update({ reading: NOT_READING });
  endOpen(step, end);
}

/** The end of a message that has brought no content. */
export function endOpen(step: Step, end: MessageEnd): void {
  if (end.kind === 'stop') step.dispatch({ type: 'message_end_open' });
  else cutOff(step, end);
}

/** The end of a message whose text leaves this open; what was open before is asked about with it. */
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

/** The message ended before the model had finished it. */
export function cutOff(
  step: Step,
  end: Exclude<MessageEnd, { kind: 'stop' }>,
  { progress = false, afterDone = false }: { progress?: boolean; afterDone?: boolean } = {},
): void {
  const { control } = step.session;
  // A reply to an open question is no content, whatever becomes of it. A connection that breaks behind a DONE has most
  // likely brought all; a model that ran out of tokens there may have been within a list of things that are DONE.
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

import type { MessageEnd } from '../control.ts';
import { NOT_READING } from '../session.ts';
import type { Step } from '../step.ts';

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

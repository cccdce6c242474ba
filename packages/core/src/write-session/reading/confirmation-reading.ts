import { isBlankText } from '@orion/contracts';
import type { MessageEnd } from '../control.ts';
import { NOT_READING } from '../session.ts';
import type { ReadingOf } from '../session.ts';
import type { Step } from '../step.ts';
import { canStillBeAnswer, endAnswer, readAnswer } from '../text/answer-reader.ts';
import { directReading, endDirect, readDirect } from './direct-reading.ts';

export type ConfirmationReading = ReadingOf<'confirmation'>;

/** The reply to the question whether the file should be empty: another marker, or the file (R035). */
export function readConfirmation(step: Step, { answer }: ConfirmationReading, text: string): void {
  const read = readAnswer(answer, text);
  step.update({ reading: { kind: 'confirmation', answer: read } });
  if (!canStillBeAnswer(read)) readDirect(step, directReading(step), read.held);
}

export function endConfirmation(
  step: Step,
  { answer }: ConfirmationReading,
  end: MessageEnd,
): void {
  const said = endAnswer(answer);
  const confirms = said.kind === 'answer' && !said.isLowerCase && end.kind === 'stop';
  if (!confirms || isShortText(said.talk)) {
    readDirect(step, directReading(step), answer.held);
    const { reading } = step.session;
    if (reading.kind === 'direct') endDirect(step, reading, end);
    return;
  }
  step.setAside(said.talk);
  step.update({ reading: NOT_READING, leadingBlanks: '' });
  step.dispatch({ type: 'message_end_terminal' });
}

/** Two or more lines before a DONE may well be the file that was asked for; a single line is talk, as in any answer. */
function isShortText(talk: string): boolean {
  return talk.split('\n').filter((line) => !isBlankText(line)).length > 1;
}

import { isBlankText } from '@orion/contracts';
import type { AnswerEffect, Choice } from '../questions/question-row.ts';
import { choicesOf, isClosed } from '../questions/questions.ts';
import type { MessageEnd, Reading } from '../session.ts';
import type { Step } from '../step.ts';
import { canStillBeAnswer, endAnswer, readAnswer } from '../text/answer-reader.ts';
import { settle } from '../finishing.ts';
import { cutOff } from './cut-off.ts';
import { directReading, endDirect, readDirect } from './direct-reading.ts';
import { startOverWithHeld } from './starting-over.ts';
import { endUndecided, readUndecided, undecidedReading } from './undecided-reading.ts';
import { endAgain, readAgain } from '../text/document-again.ts';
import type { AgainReader } from '../text/document-again.ts';

export type AnswerReading = Extract<Reading, { kind: 'answer' }>;

/** Text of a reply that is held while it can be an answer. */
export function readReply(step: Step, reading: AnswerReading, text: string): void {
  const answer = readAnswer(reading.answer, text);
  const again = reading.again === null ? null : readAgain(reading.again, text);
  step.update({ reading: { kind: 'answer', answer, again } });
  if (!canStillBeAnswer(answer)) readAsMessage(step, { answer, again });
}

/** More of a reply that is no answer to a closed question, and may be the document again. */
export function readAgainReply(step: Step, again: AgainReader, text: string): void {
  step.emit({ type: 'hold', text });
  readOn(step, readAgain(again, text));
}

function readOn(step: Step, again: AgainReader | null): void {
  if (again !== null && again.verdict !== 'other') {
    step.update({ reading: { kind: 'again', again } });
    return;
  }
  // A model that goes on and on instead of answering would do so for long.
  step.update({ reading: { kind: 'none' } });
  step.emit({ type: 'stop_message' }, { type: 'discard_held' });
  step.dispatch({ type: 'answer', answer: 'unusable' });
}

/** The reply is no answer: it may go on with the file, or be the document again. */
function readAsMessage(step: Step, { answer, again }: Omit<AnswerReading, 'kind'>): void {
  const { held } = answer;
  const { control } = step.session;
  step.update({ reading: { kind: 'none' } });
  if (control.kind === 'awaiting_content') {
    const direct = directReading(step, null, 'none');
    step.update({ reading: direct });
    if (direct.kind === 'direct') readDirect(step, direct, held);
    return;
  }
  if (control.kind !== 'awaiting_answer') return;
  if (isClosed(control.question)) {
    step.emit({ type: 'hold', text: held });
    readOn(step, again);
    return;
  }
  // What it asks about stands in the question itself; what is held from now on is this reply.
  if (control.question.kind === 'near_miss' && control.question.heldBack)
    step.emit({ type: 'discard_held' });
  step.dispatch({ type: 'answer', answer: 'text' });
  step.update({ expecting: { kind: 'reply', recovery: false } });
  const undecided = undecidedReading(step, { prefilled: false, takesDone: false });
  step.update({ reading: undecided });
  if (undecided.kind === 'seam') readUndecided(step, undecided, held);
}

/** The end of a reply that can still be an answer. */
export function endReply(step: Step, reading: AnswerReading, end: MessageEnd): void {
  const { control } = step.session;
  step.update({ reading: { kind: 'none' } });
  if (control.kind === 'awaiting_answer' && end.kind === 'error') {
    cutOff(step, end, false, false);
    return;
  }
  const said = endAnswer(reading.answer);
  if (control.kind === 'awaiting_content') {
    const confirms = said.kind === 'answer' && !said.isLowerCase && end.kind === 'stop';
    if (confirms && !isShortText(said.talk)) {
      confirmEmpty(step, said.talk);
      return;
    }
    endAsMessage(step, reading, end);
    return;
  }
  if (control.kind !== 'awaiting_answer') return;
  // The first lines of a short document can be talk, and its last one the DONE that ends it.
  if (reading.again !== null && endAgain(reading.again) === 'again') {
    endAsMessage(step, reading, end);
    return;
  }
  switch (said.kind) {
    case 'text':
      endAsMessage(step, reading, end);
      return;
    case 'unclear':
      step.dispatch({ type: 'answer', answer: 'unusable' });
      return;
    case 'answer':
      applyAnswer(
        step,
        choicesOf(control.question).find(({ reply }) => reply === said.choice),
      );
      return;
    default:
      said satisfies never;
  }
}

/** Two lines before a DONE can be the file that was asked for just as well; of one, the rule of answers holds. */
function isShortText(talk: string): boolean {
  return talk.split('\n').filter((line) => !isBlankText(line)).length > 1;
}

/** A second marker after the question whether the file is to be empty. */
function confirmEmpty(step: Step, talk: string): void {
  if (!isBlankText(talk)) step.emit({ type: 'set_aside', text: talk });
  step.update({ leadingBlanks: '' });
  step.dispatch({ type: 'message_end_terminal' });
}

function endAsMessage(step: Step, held: Omit<AnswerReading, 'kind'>, end: MessageEnd): void {
  readAsMessage(step, held);
  const { reading } = step.session;
  if (reading.kind === 'direct') endDirect(step, reading, end, 'message');
  else if (reading.kind === 'seam') endUndecided(step, reading, end);
  else if (reading.kind === 'again') endAgainReply(step, reading.again, end);
}

/** The end of a reply that is no answer to a closed question. */
export function endAgainReply(step: Step, again: AgainReader, end: MessageEnd): void {
  if (end.kind !== 'error' && endAgain(again) === 'again') {
    startOverWithHeld(step, end);
    return;
  }
  step.update({ reading: { kind: 'none' } });
  step.emit({ type: 'discard_held' });
  if (end.kind === 'error') cutOff(step, end, false, false);
  else step.dispatch({ type: 'answer', answer: 'unusable' });
}

function applyAnswer(step: Step, chosen: Choice | undefined): void {
  if (chosen === undefined) {
    step.dispatch({ type: 'answer', answer: 'unusable' });
    return;
  }
  // A DONE that a person types says nothing of how the model's last line ends.
  if (chosen.answer.kind === 'done') step.update({ endedByDone: true });
  if (leavesNothing(step, chosen.effect)) {
    askWhetherEmpty(step);
    return;
  }
  settle(step, chosen.effect);
  // What an answer adds may exceed the size limit, which pauses the session.
  if (step.session.control.kind === 'awaiting_answer') {
    step.dispatch({ type: 'answer', answer: chosen.answer.kind });
  }
}

/** Whether all that came was the word that ends it. */
function leavesNothing({ session }: Step, effect: AnswerEffect): boolean {
  if (effect.type === 'end_before') return effect.contentEnd <= session.contentStart;
  if (effect.type === 'drop_lead') return effect.contentStart >= session.summary.bytes;
  if (effect.type !== 'leave_out' || effect.heldText !== null) return false;
  return effect.contentEnd <= session.contentStart;
}

/** Then it is a marker without content, however it was written: no file is emptied by it (R035). */
function askWhetherEmpty(step: Step): void {
  step.startOver();
  step.update({ expecting: { kind: 'content' } });
  step.dispatch({ type: 'document_again' });
  step.dispatch({ type: 'message_end_terminal' });
}

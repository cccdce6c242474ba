import type { SessionQuestion } from '@orion/contracts';

import { openQuestionOf } from '../control.ts';
import type { MessageEnd } from '../control.ts';
import type { AnswerEffect, Choice } from '../questions/question-row.ts';
import { choicesOf, isClosed } from '../questions/questions.ts';
import { NOT_READING } from '../session.ts';
import type { ReadingOf } from '../session.ts';
import type { Step } from '../step.ts';
import { canStillBeAnswer, endAnswer, readAnswer } from '../text/answer-reader.ts';
import { endAgain, readAgain } from '../text/document-again.ts';
import type { AgainReader } from '../text/document-again.ts';
import { idleReply } from '../transition/outcomes.ts';
import { startOverWithHeld } from './direct-reading.ts';
import { endUndecided, readUndecided, undecidedReading } from './undecided-reading.ts';

type AnswerReading = ReadingOf<'answer'>;

/** Reads more of a reply to a question: held in memory while it can be an answer, then read as what else it may be. */
export function readReply(step: Step, text: string): void {
  const { reading } = step.session;
  if (reading.kind === 'again') {
    step.emit({ type: 'hold', text });
    readOn(step, readAgain(reading.again, text));
  } else if (reading.kind === 'answer') {
    const answer = readAnswer(reading.answer, text);
    const again = reading.again === null ? null : readAgain(reading.again, text);
    const read: AnswerReading = { ...reading, answer, again };
    step.update({ reading: read });
    if (!canStillBeAnswer(answer)) readAsMessage(step, read);
  }
}

function readOn(step: Step, again: AgainReader | null): void {
  if (again !== null && again.verdict !== 'other') {
    step.update({ reading: { kind: 'again', again } });
    return;
  }
  // A model that writes on instead of answering could do so for long.
  step.emit({ type: 'stop_message' });
  refuse(step);
}

/** The reply is not an answer: it may continue the file, or repeat the document. */
function readAsMessage(step: Step, { answer, again }: AnswerReading): void {
  const { held } = answer;
  if (isClosed(questionOf(step))) {
    step.emit({ type: 'hold', text: held });
    readOn(step, again);
    return;
  }
  step.dispatch({ type: 'answer', answer: { kind: 'text' } });
  const { reading } = step.session;
  if (reading.kind === 'seam') readUndecided(step, reading, held);
}

/** Reads the reply to an open question as text that may continue the file. */
export function readTextInstead(step: Step): void {
  const question = questionOf(step);
  // The question itself contains what it asks about; from now on, the held text is this reply.
  if (question.kind === 'near_miss' && question.heldBack) step.emit({ type: 'discard_held' });
  step.update({
    reading: undecidedReading(step, { expecting: idleReply, prefilled: false, takesDone: false }),
  });
}

/** The end of a reply to a question. */
export function endReply(step: Step, end: MessageEnd): void {
  const { reading } = step.session;
  if (reading.kind === 'again') {
    if (endAgain(reading.again) === 'again') startOverWithHeld(step, end);
    else refuse(step);
  }
  if (reading.kind !== 'answer') return;
  const said = endAnswer(reading.answer);
  // The first lines of a short document can look like talk, and its last line can be the DONE that ends it.
  const isAgain = reading.again !== null && endAgain(reading.again) === 'again';
  if (isAgain || said.kind === 'text') {
    readAsMessage(step, reading);
    const { reading: read } = step.session;
    if (read.kind === 'seam') endUndecided(step, read, end);
    else if (read.kind === 'again') endReply(step, end);
    return;
  }
  step.update({ reading: NOT_READING });
  const chosen =
    said.kind === 'answer'
      ? choicesOf(questionOf(step)).find(({ reply }) => reply === said.choice)
      : undefined;
  if (chosen === undefined) step.dispatch({ type: 'answer', answer: { kind: 'unusable' } });
  else applyAnswer(step, chosen);
}

/** The held text is neither an answer nor the document again. */
function refuse(step: Step): void {
  step.update({ reading: NOT_READING });
  step.emit({ type: 'discard_held' });
  step.dispatch({ type: 'answer', answer: { kind: 'unusable' } });
}

function questionOf({ session }: Step): SessionQuestion {
  const question = openQuestionOf(session.control);
  if (question === null) throw new Error('a reply was read as an answer where no question is open');
  return question;
}

function applyAnswer(step: Step, { answer, effect }: Choice): void {
  // Only for the model: a DONE that a person types says nothing about how the model's last line ends.
  if (answer.kind === 'done') step.update({ endedByDone: true });
  if (leavesNothing(step, effect)) {
    // This is a marker without content, however it was written; it never empties a file (R035).
    step.dispatch({ type: 'document_again' });
    step.dispatch({ type: 'message_end_terminal' });
  } else if (hasRoomFor(step, effect)) {
    step.dispatch({ type: 'answer', answer });
  } else {
    step.exceedLimit();
  }
}

/** Whether nothing arrived but the word that ends the text. */
function leavesNothing({ session }: Step, effect: AnswerEffect): boolean {
  if (effect.type === 'end_before') return effect.contentEnd <= session.contentStart;
  if (effect.type === 'drop_lead') return effect.contentStart >= session.summary.bytes;
  if (effect.type !== 'leave_out' || effect.heldText !== null) return false;
  return effect.contentEnd <= session.contentStart;
}

/** Whether the text that an answer adds is within the size limit. */
export function hasRoomFor(step: Step, effect: AnswerEffect): boolean {
  const added = effect.type === 'keep_all' ? effect.heldText : null;
  return added === null || step.hasRoomFor(added);
}

import type { SessionQuestion } from '@orion/contracts';

import { isClosed } from '../control.ts';
import type { MessageEnd } from '../session.ts';
import type { Step } from '../step.ts';
import { canStillBeAnswer, readAnswer } from '../text/answers.ts';
import { cutOff } from './cut-off.ts';
import { addSeam } from './undecided-reading.ts';

/** Text of a reply to a question. False: it is no answer but goes on with the file. */
export function readAnswerText(step: Step, held: string): boolean {
  const { control, metadata } = step.session;
  if (control.kind !== 'awaiting_answer') return true;
  const { question } = control;
  if (!canStillBeAnswer(question, held, metadata.end_marker)) {
    if (!isClosed(question)) return false;
    // A model that streams the file once more instead of answering would go on for long.
    step.update({ reading: { kind: 'none' } });
    step.emit({ type: 'stop_message' });
    step.dispatch({ type: 'answer', answer: 'unusable' });
    return true;
  }
  step.update({ reading: { kind: 'answer', held } });
  step.dispatch({ type: 'text' });
  return true;
}

/** Leaves the question: the reply enters the seam reader as the start of a message. */
export function leaveQuestion(step: Step): void {
  const { control } = step.session;
  if (control.kind === 'awaiting_answer' && control.question.kind === 'near_miss') {
    if (control.question.heldBack) step.emit({ type: 'set_aside_held' });
  }
  step.dispatch({ type: 'answer', answer: 'text' });
  step.update({ expecting: { kind: 'reply', recovery: false } });
}

/** The end of a reply to a question. False: the whole reply is no answer but goes on with the file. */
export function endAnswer(step: Step, held: string, end: MessageEnd): boolean {
  const { control, metadata } = step.session;
  if (control.kind !== 'awaiting_answer') return true;
  step.update({ reading: { kind: 'none' } });
  if (!control.asked) {
    step.dispatch({ type: 'message_end_open' });
    return true;
  }
  if (end.kind === 'error') {
    cutOff(step, end, false, false);
    return true;
  }
  const { question } = control;
  step.dispatch({ type: 'message_end_open' });
  const answer = readAnswer(question, held, metadata.end_marker);
  switch (answer.kind) {
    case 'text':
      return false;
    case 'end':
      applyAnswer(step, question, { kind: 'end', line: answer.candidate.line });
      return true;
    case 'done':
    case 'keep':
    case 'strip':
      applyAnswer(step, question, { kind: answer.kind });
      return true;
    case 'again':
      step.dispatch({ type: 'answer', answer: 'again' });
      return true;
    case 'unusable':
      step.dispatch({ type: 'answer', answer: 'unusable' });
      return true;
    default:
      return answer satisfies never;
  }
}

export type QuestionAnswer =
  | { readonly kind: 'end'; readonly line: number }
  | { readonly kind: 'keep' | 'strip' | 'done' };

/**
 * Sets what of the content is the file, without moving on. Returns false when the answer does not fit the
 * question.
 */
export function settleQuestion(
  step: Step,
  question: SessionQuestion,
  answer: QuestionAnswer,
): boolean {
  switch (question.kind) {
    case 'end':
      if (answer.kind === 'end') {
        const candidate = question.candidates.find((each) => each.line === answer.line);
        if (candidate === undefined) return false;
        const inner = question.candidates
          .map((each) => each.line)
          .filter((line) => line < answer.line);
        step.settleEnds();
        step.noteInnerDone({ lines: inner, chatEnds: [] });
        step.endContentAt(candidate.contentEnd, true);
        return true;
      }
      if (answer.kind !== 'done') return false;
      step.settleEnds();
      step.noteInnerDone({
        lines: question.candidates.map((candidate) => candidate.line),
        chatEnds: [],
      });
      return true;
    case 'near_miss':
      if (answer.kind === 'keep') {
        if (question.heldBack) {
          // Only the answer says that this text follows what is saved.
          addSeam(step, 'unverified', 'tail');
          step.emit({ type: 'discard_held' });
          step.append(question.text);
        }
        return true;
      }
      if (answer.kind !== 'done') return false;
      if (question.heldBack) {
        // The model was asked to go on and said something else: the file may be too short here.
        addSeam(step, 'unverified', 'tail', { textSetAside: question.text.length });
        step.emit({ type: 'set_aside_held' });
      } else {
        step.endContentAt(question.contentEnd, false);
      }
      return true;
    case 'fence':
      if (answer.kind === 'strip') {
        step.stripFence(question.contentStart, question.contentEnd);
        return true;
      }
      return answer.kind === 'keep';
    case 'omission':
      return answer.kind === 'keep';
    default:
      return question satisfies never;
  }
}

function applyAnswer(step: Step, question: SessionQuestion, answer: QuestionAnswer): void {
  if (!settleQuestion(step, question, answer)) {
    step.dispatch({ type: 'answer', answer: 'unusable' });
    return;
  }
  if (step.session.control.kind === 'awaiting_answer') {
    step.dispatch({ type: 'answer', answer: answer.kind });
  }
}

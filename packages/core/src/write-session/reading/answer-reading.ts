import type { SessionQuestion } from '@orion/contracts';

import type { QuestionAnswer } from '../questions/question-row.ts';
import { choiceFor, isClosed } from '../questions/questions.ts';
import type { MessageEnd } from '../session.ts';
import type { Step } from '../step.ts';
import { canStillBeAnswer, readAnswer } from '../text/answers.ts';
import { cutOff } from './cut-off.ts';

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
    case 'again':
      applyAnswer(step, question, { kind: answer.kind });
      return true;
    case 'unusable':
      step.dispatch({ type: 'answer', answer: 'unusable' });
      return true;
    default:
      return answer satisfies never;
  }
}

function applyAnswer(step: Step, question: SessionQuestion, answer: QuestionAnswer): void {
  const chosen = choiceFor(question, answer);
  if (chosen === null) {
    step.dispatch({ type: 'answer', answer: 'unusable' });
    return;
  }
  step.settle(chosen.effect);
  // What an answer adds may exceed the size limit, which pauses the session.
  if (step.session.control.kind === 'awaiting_answer') {
    step.dispatch({ type: 'answer', answer: answer.kind });
  }
}

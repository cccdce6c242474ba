import type { SessionQuestion } from '@orion/contracts';

import type { AwaitingAnswer, Transition } from '../control.ts';
import { MAX_RETRIES } from '../control.ts';
import type { QuestionAnswer } from '../questions/question-row.ts';
import { choicesOf, isClosed } from '../questions/questions.ts';
import {
  emptySession,
  filledSession,
  finalizing,
  invalid,
  moved,
  ordinary,
  paused,
  refused,
} from './moves.ts';
import { listeningRows } from './rows.ts';
import type { Rows } from './rows.ts';

const held = (state: AwaitingAnswer): Transition => (state.asked ? moved(state, 'hold') : ordinary);
const parsed = (state: AwaitingAnswer): Transition =>
  state.asked ? moved(state, 'parse_reply') : asked(state);

export const fromAwaitingAnswer: Rows<AwaitingAnswer> = {
  ...listeningRows,
  text: held,
  blank_text: held,
  end_marker: held,
  message_end_terminal: parsed,
  message_end_question: parsed,
  message_end_open: parsed,
  message_end_length: parsed,
  answer: (state, { answer }, { idleMs }) => {
    switch (answer) {
      case 'text':
        if (isClosed(state.question)) return invalid;
        return moved(
          { ...filledSession, idlePrompts: state.idlePrompts, question: state.question },
          'seam_reader',
        );
      case 'unusable':
        if (idleMs === 0) return paused('NO_DONE', state.question);
        return moved({ ...state, again: true, retries: 0 }, 'start_idle_timer');
      default:
        return closed(state.question, answer);
    }
  },
  stream_error: (state, { code, retryable }) => {
    if (!state.asked) return asked(state);
    if (!retryable || state.retries >= MAX_RETRIES) return paused(code, state.question);
    return asked({ ...state, retries: state.retries + 1 });
  },
  idle_elapsed: (state, _event, { maxIdlePrompts }) =>
    state.idlePrompts >= maxIdlePrompts
      ? paused('NO_DONE', state.question)
      : asked({ ...state, idlePrompts: state.idlePrompts + 1, retries: 0 }),
  document_again: () => moved(emptySession, 'start_over'),
  finalize_command: (_state, { answered }) =>
    answered ? moved(finalizing, 'save', 'finalize') : refused('QUESTION_OPEN'),
};

function asked(state: AwaitingAnswer): Transition {
  return moved({ ...state, asked: true }, 'ask_question');
}

function closed(question: SessionQuestion, answer: QuestionAnswer['kind']): Transition {
  const chosen = choicesOf(question).find((each) => each.answer.kind === answer);
  if (chosen === undefined) return invalid;
  const { type } = chosen.effect;
  return type === 'start_over'
    ? moved(emptySession, type, 'ask_anew')
    : moved(finalizing, type, 'save', 'finalize');
}

import type { SessionQuestion } from '@orion/contracts';

import type { AwaitingAnswer, MessageEnd, Transition } from '../control.ts';
import { MAX_RETRIES } from '../control.ts';
import type { QuestionAnswer } from '../questions/question-row.ts';
import { choiceFor, isClosed } from '../questions/questions.ts';
import {
  emptySession,
  filledSession,
  finalized,
  idleReply,
  invalid,
  moved,
  ordinary,
  paused,
  refused,
} from './outcomes.ts';
import { listeningRows } from './rows.ts';
import type { Rows } from './rows.ts';

const held = (state: AwaitingAnswer, { text }: { readonly text: string }): Transition =>
  state.asked ? moved(state, { type: 'hold', text }) : ordinary;
const parsedAt =
  (end: MessageEnd) =>
  (state: AwaitingAnswer): Transition =>
    state.asked ? moved(state, { type: 'parse_reply', end }) : asked(state);
const parsed = parsedAt({ kind: 'stop' });

export const fromAwaitingAnswer: Rows<AwaitingAnswer> = {
  ...listeningRows,
  text: held,
  blank_text: held,
  // It is a line of the reply.
  end_marker: () => invalid,
  message_end_terminal: parsed,
  message_end_question: parsed,
  message_end_open: parsed,
  message_end_length: parsedAt({ kind: 'length' }),
  answer: (state, { answer }, { idleMs }) => {
    const { question, idlePrompts } = state;
    switch (answer.kind) {
      case 'text':
        if (isClosed(question)) return invalid;
        return moved(
          { ...filledSession, idlePrompts, question, expecting: idleReply },
          'seam_reader',
        );
      case 'unusable':
        if (idleMs === 0) return paused('NO_DONE', question);
        return moved({ ...state, again: true, retries: 0 }, 'start_idle_timer');
      default:
        return closed(question, answer);
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
  document_again: () => moved(emptySession, { type: 'start_over' }),
  finalize_command: (_state, { answered }) =>
    answered ? finalized('save') : refused('QUESTION_OPEN'),
};

function asked(state: AwaitingAnswer): Transition {
  return moved({ ...state, asked: true }, 'ask_question');
}

function closed(question: SessionQuestion, answer: QuestionAnswer): Transition {
  const effect = choiceFor(question, answer)?.effect;
  if (effect === undefined) return invalid;
  return effect.type === 'start_over'
    ? moved(emptySession, effect, 'ask_anew')
    : finalized(effect, 'save');
}

import type { SessionQuestion } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import type { ControlEvent, ControlLimits, ControlState, Expectation } from './control.ts';
import { transition } from './transition.ts';

/**
 * The state table of requirements §1.2 (R015), cell by cell. A cell says the next state's letter and the effects in
 * their order; `–` ignored, `✗` invalid, `chat` ordinary, `queue` queued, a code in capitals refused. `C1` and the
 * like are a state whose counter has grown; `=` is the very state it was.
 */

const endQuestion: SessionQuestion = {
  kind: 'end',
  candidates: [{ line: 2, contentEnd: 7, following: 'not finished' }],
};
const nearMiss: SessionQuestion = {
  kind: 'near_miss',
  text: 'DONE.',
  contentEnd: 4,
  heldBack: false,
};
const fence: SessionQuestion = {
  kind: 'fence',
  contentStart: 4,
  contentEnd: 9,
  firstLine: '```',
  lastLine: '```',
};

const lead: SessionQuestion = { kind: 'lead', text: 'Here is the file:', contentStart: 19 };

const omission: SessionQuestion = {
  kind: 'omission',
  lines: [{ line: 3, text: '// ... rest unchanged' }],
  count: 1,
};

const continuation: Expectation = {
  kind: 'continuation',
  isReply: false,
  isRecovery: false,
  asks: 1,
};
const bridge: Expectation = {
  kind: 'bridge',
  headLines: ['x'],
  end: { kind: 'stop' },
};

const limits: ControlLimits = {
  operation: 'create',
  idleMs: 2000,
  maxIdlePrompts: 3,
  unasked: null,
};

const states = {
  I: { kind: 'idle' },
  C: { kind: 'awaiting_content', idlePrompts: 0, retries: 0, emptyAsked: false },
  M: {
    kind: 'awaiting_more',
    idlePrompts: 0,
    stalledReplies: 0,
    question: null,
    expecting: { kind: 'continuation', isReply: false, isRecovery: false, asks: 0 },
  },
  Q: {
    kind: 'awaiting_answer',
    question: endQuestion,
    asked: true,
    again: false,
    idlePrompts: 1,
    retries: 0,
  },
  F: { kind: 'finalizing', attempts: 0 },
  N: { kind: 'needs_corrections', round: 0, places: [] },
  P: { kind: 'paused', code: 'NO_DONE', question: null },
} as const satisfies Record<string, ControlState>;

type Letter = keyof typeof states;
const letters: readonly Letter[] = ['I', 'C', 'M', 'Q', 'F', 'N', 'P'];

const byKind: Record<ControlState['kind'], string> = {
  idle: 'I',
  awaiting_content: 'C',
  awaiting_more: 'M',
  awaiting_answer: 'Q',
  finalizing: 'F',
  needs_corrections: 'N',
  paused: 'P',
  done: 'D',
  aborted: 'A',
};

function counters(state: ControlState): string {
  const grown: string[] = [];
  if ('idlePrompts' in state && state.idlePrompts > 0) grown.push(`prompts=${state.idlePrompts}`);
  if ('retries' in state && state.retries > 0) grown.push(`retries=${state.retries}`);
  if ('emptyAsked' in state && state.emptyAsked) grown.push('empty');
  if ('stalledReplies' in state && state.stalledReplies > 0)
    grown.push(`stalled=${state.stalledReplies}`);
  if ('question' in state && state.question !== null) grown.push(state.question.kind);
  if ('asked' in state && !state.asked) grown.push('unasked');
  if ('again' in state && state.again) grown.push('again');
  if ('attempts' in state && state.attempts > 0) grown.push(`attempts=${state.attempts}`);
  if ('round' in state && state.round > 0) grown.push(`round=${state.round}`);
  if ('code' in state) grown.push(state.code);
  if ('expecting' in state) grown.push(...expected(state.expecting));
  return grown.length === 0 ? '' : `(${grown.join(' ')})`;
}

function expected(expecting: Expectation): readonly string[] {
  if (expecting.kind === 'bridge') return ['bridge'];
  const { isReply, isRecovery, asks } = expecting;
  return [
    ...(isReply ? ['reply'] : []),
    ...(isRecovery ? ['recovery'] : []),
    ...(asks > 0 ? [`asks=${asks}`] : []),
  ];
}

function cellOf(state: ControlState, event: ControlEvent, applied: ControlLimits = limits): string {
  const result = transition(state, event, applied);
  switch (result.kind) {
    case 'moved': {
      const same = JSON.stringify(result.state) === JSON.stringify(state);
      const name = same ? '=' : `${byKind[result.state.kind]}${counters(result.state)}`;
      return [name, ...result.effects.map(({ type }) => type)].join(' ');
    }
    case 'ignored':
      return '–';
    case 'invalid':
      return '✗';
    case 'ordinary':
      return 'chat';
    case 'queued':
      return 'queue';
    case 'refused':
      return result.code;
  }
}

type Row = readonly [name: string, event: ControlEvent, ...cells: readonly string[]];

const streamError: ControlEvent = {
  type: 'stream_error',
  code: 'STREAM_BROKEN',
  retryable: true,
  afterDone: false,
  progress: true,
};

const recovered = 'Q(end) ask_question';
const parked = 'P(ABORTED) save release';
const cancelled = 'P(ABORTED) save pause release';

// One line for each row of the table; columns: I C M Q F N P
// oxfmt-ignore
const rows: readonly Row[] = [
  ['begin_ok', { type: 'begin_ok' }, 'C', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'queue', 'SESSION_ALREADY_ACTIVE', 'C park'],
  ['text chunk', { type: 'text', text: 'x' }, 'chat', 'M cancel_idle_timer buffer', '= cancel_idle_timer buffer', '= hold', 'chat', '= append_reply', 'chat'],
  ['whitespace-only chunk', { type: 'blank_text', text: ' ' }, 'chat', '= cancel_idle_timer buffer', '= cancel_idle_timer buffer', '= hold', '–', '= append_reply', 'chat'],
  ['end_marker line', { type: 'end_marker', messageOpen: true }, 'chat', 'C(empty) start_idle_timer', 'F save finalize', '✗', 'chat', '✗', 'chat'],
  ['message_end, terminal marker', { type: 'message_end_terminal' }, '–', 'C(empty) start_idle_timer', 'F save finalize', '= parse_reply', '–', '= parse_reply', '–'],
  ['message_end, ambiguous DONE', { type: 'message_end_question', question: endQuestion }, '–', '✗', 'M(end) save start_idle_timer', '= parse_reply', '–', '= parse_reply', '–'],
  ['message_end, near miss', { type: 'message_end_question', question: nearMiss }, '–', '✗', 'M(near_miss) save start_idle_timer', '= parse_reply', '–', '= parse_reply', '–'],
  ['message_end, no marker', { type: 'message_end_open' }, '–', '= start_idle_timer', '= save start_idle_timer', '= parse_reply', '–', '= parse_reply', '–'],
  ['message_end, length', { type: 'message_end_length', progress: true }, '–', 'C(retries=1) resend', '= save ask_continuation', '= parse_reply', '–', 'N(round=1) end_round save ask_corrections', '–'],
  ['seam verified', { type: 'seam_verified' }, '✗', '✗', '=', '✗', '✗', '✗', '✗'],
  ['seam hopeless, ask the open question', { type: 'seam_hopeless', remedy: 'ask_question' }, '✗', '✗', '✗', '✗', '✗', '✗', '✗'],
  ['seam hopeless, ask again', { type: 'seam_hopeless', remedy: 'ask_again', expecting: continuation }, '✗', '✗', 'M(asks=1) save ask_again', '✗', '✗', '✗', '✗'],
  ['seam hopeless, bridge', { type: 'seam_hopeless', remedy: 'ask_bridge', expecting: bridge }, '✗', '✗', 'M(bridge) save ask_bridge', '✗', '✗', '✗', '✗'],
  ['seam hopeless, accept', { type: 'seam_hopeless', remedy: 'accept', via: 'tail', end: { kind: 'stop' } }, '✗', '✗', '= accept_unverified', '✗', '✗', '✗', '✗'],
  ['seam hopeless, pause', { type: 'seam_hopeless', remedy: 'pause' }, '✗', '✗', 'P(SEAM_UNVERIFIED) save pause release', '✗', '✗', '✗', '✗'],
  ['idle timer, prompts < max', { type: 'idle_elapsed' }, '✗', 'C(prompts=1) ask_idle', 'M(prompts=1 reply) ask_idle', 'Q(prompts=2 end) ask_question', '✗', 'N(round=1) end_round save ask_corrections', '✗'],
  ['question due', { type: 'question_due', question: fence, messageOpen: false, attended: true }, '✗', '✗', '✗', '✗', 'Q(fence) save ask_question', '✗', '✗'],
  ['question due in mid-message', { type: 'question_due', question: fence, messageOpen: true, attended: true }, '✗', '✗', '✗', '✗', 'Q(fence unasked) save', '✗', '✗'],
  ['answer END n', { type: 'answer', answer: { kind: 'end', line: 2 } }, '✗', '✗', '✗', 'F end_before save finalize', '✗', '✗', '✗'],
  ['answer DONE (end)', { type: 'answer', answer: { kind: 'done' } }, '✗', '✗', '✗', 'F keep_all save finalize', '✗', '✗', '✗'],
  ['answer KEEP on end', { type: 'answer', answer: { kind: 'keep' } }, '✗', '✗', '✗', '✗', '✗', '✗', '✗'],
  ['answer STRIP on end', { type: 'answer', answer: { kind: 'strip' } }, '✗', '✗', '✗', '✗', '✗', '✗', '✗'],
  ['answer DROP on end', { type: 'answer', answer: { kind: 'drop' } }, '✗', '✗', '✗', '✗', '✗', '✗', '✗'],
  ['answer AGAIN on end', { type: 'answer', answer: { kind: 'again' } }, '✗', '✗', '✗', '✗', '✗', '✗', '✗'],
  ['reply is no answer', { type: 'answer', answer: { kind: 'text' } }, '✗', '✗', '✗', 'M(prompts=1 end reply) seam_reader', '✗', '✗', '✗'],
  ['answer not usable', { type: 'answer', answer: { kind: 'unusable' } }, '✗', '✗', '✗', 'Q(prompts=1 end again) start_idle_timer', '✗', '✗', '✗'],
  ['reply is the document again', { type: 'document_again' }, '✗', '✗', 'C start_over', 'C start_over', '✗', '✗', '✗'],
  ['other tool call', { type: 'tool_called' }, 'chat', 'SESSION_BUSY', 'SESSION_BUSY', 'SESSION_BUSY', 'queue', 'SESSION_BUSY', 'chat'],
  ['save due', { type: 'save_due' }, '✗', '= write_state', '= write_state', '= write_state', '–', '= write_state', '= write_state'],
  ['save error', { type: 'save_failed' }, '✗', '= degrade', '= degrade', '= degrade', '=', '= degrade', '='],
  ['size limit exceeded', { type: 'limit_exceeded' }, '✗', 'P(CONTENT_TOO_LARGE) save pause release', 'P(CONTENT_TOO_LARGE) save pause release', 'P(end CONTENT_TOO_LARGE) save pause release', '✗', '✗', 'P(CONTENT_TOO_LARGE) save pause release'],
  ['finalize_ok', { type: 'finalize_ok' }, '✗', '✗', '✗', '✗', 'D remove_directory', '✗', '✗'],
  ['finalize → needs_corrections', { type: 'finalize_needs_corrections', places: [], round: 0, asked: 'model' }, '✗', '✗', '✗', '✗', 'N save ask_corrections', '✗', '✗'],
  ['finalize retryable error', { type: 'finalize_retryable', code: 'DISK_FULL' }, '✗', '✗', '✗', '✗', 'F(attempts=1) retry_finalize', '✗', '✗'],
  ['finalize refusal', { type: 'finalize_refused', code: 'TARGET_CHANGED' }, '✗', '✗', '✗', '✗', 'P(TARGET_CHANGED) save pause release', '✗', '✗'],
  ['correction reply usable', { type: 'correction_usable', corrections: [] }, '✗', '✗', '✗', '✗', '✗', 'F end_round save finalize', '✗'],
  ['correction reply unusable', { type: 'correction_unusable' }, '✗', '✗', '✗', '✗', '✗', 'N(round=1) end_round save ask_corrections', '✗'],
  ['model stream error', streamError, '–', 'C(retries=1) resend', '= save ask_continuation', 'Q(prompts=1 retries=1 end) ask_question', '–', 'N(round=1) end_round save ask_corrections', '–'],
  ['model stream error, not retryable', { ...streamError, retryable: false, code: 'PROVIDER_AUTH' }, '–', 'P(PROVIDER_AUTH) save pause release', 'P(PROVIDER_AUTH) save pause release', 'P(end PROVIDER_AUTH) save pause release', '–', 'N(round=1) end_round save ask_corrections', '–'],
  ['model stream error, a budget used up (R251)', { ...streamError, retryable: false, code: 'BUDGET_EXHAUSTED' }, '–', 'P(BUDGET_EXHAUSTED) save pause release', 'P(BUDGET_EXHAUSTED) save pause release', 'P(end BUDGET_EXHAUSTED) save pause release', '–', 'P(BUDGET_EXHAUSTED) end_round save pause release', '–'],
  ['model stream error after a bare DONE', { ...streamError, afterDone: true }, '–', 'C(retries=1) resend', '= save start_idle_timer', 'Q(prompts=1 retries=1 end) ask_question', '–', 'N(round=1) end_round save ask_corrections', '–'],
  ['turn cancelled', { type: 'cancelled' }, '–', cancelled, cancelled, 'P(end ABORTED) save pause release', '=', cancelled, '–'],
  ['abort', { type: 'abort', writing: false }, 'SESSION_NOT_FOUND', 'A(SESSION_ABORTED) remove_directory', 'A(SESSION_ABORTED) move_to_attic', 'A(SESSION_ABORTED) move_to_attic', 'A(SESSION_ABORTED) move_to_attic', 'A(SESSION_ABORTED) move_to_attic', 'A(SESSION_ABORTED) move_to_attic'],
  ['abort while writing', { type: 'abort', writing: true }, 'SESSION_NOT_FOUND', 'A(SESSION_ABORTED) remove_directory', 'A(SESSION_ABORTED) move_to_attic', 'A(SESSION_ABORTED) move_to_attic', 'SESSION_BUSY', 'A(SESSION_ABORTED) move_to_attic', 'A(SESSION_ABORTED) move_to_attic'],
  ['graceful stop', { type: 'graceful_stop' }, '=', parked, parked, 'P(end ABORTED) save release', '=', parked, '= save release'],
  ['inactivity', { type: 'inactive' }, '–', 'A(EMPTY_CONTENT) remove_directory', 'I save release', 'I save release', '–', 'I save release', 'I save release'],
  ['recover accepted, content', { type: 'recover_accepted', content: true, question: null, complete: false }, 'M(reply recovery) ask_recovery', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'M(reply recovery) ask_recovery'],
  ['recover accepted, empty', { type: 'recover_accepted', content: false, question: null, complete: false }, 'C ask_recovery', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'C ask_recovery'],
  ['recover accepted, question open', { type: 'recover_accepted', content: true, question: endQuestion, complete: false }, recovered, 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', recovered],
  ['recover accepted, corrections begun', { type: 'recover_accepted', content: true, question: null, complete: true }, 'F finalize', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'SESSION_ALREADY_ACTIVE', 'F finalize'],
  ['lease lost', { type: 'lease_lost', writing: false }, '–', 'I warn_lost', 'I warn_lost', 'I warn_lost', 'I warn_lost', 'I warn_lost', 'I warn_lost'],
  ['lease lost while writing', { type: 'lease_lost', writing: true }, '–', 'I warn_lost', 'I warn_lost', 'I warn_lost', '=', 'I warn_lost', 'I warn_lost'],
  ['retry finalize', { type: 'finalize_command', answered: false }, 'SESSION_NOT_FOUND', 'EMPTY_CONTENT', 'F save finalize', 'QUESTION_OPEN', '=', 'F save finalize', 'F save finalize'],
  ['retry finalize with an answer', { type: 'finalize_command', answered: true }, 'SESSION_NOT_FOUND', 'EMPTY_CONTENT', 'F save finalize', 'F save finalize', '=', 'F save finalize', 'F save finalize'],
];

describe('R015: the state table', () => {
  for (const [name, event, ...cells] of rows) {
    for (const [index, letter] of letters.entries()) {
      it(`${name} in ${letter}`, () => {
        expect(cellOf(states[letter], event)).toBe(cells[index]);
      });
    }
  }

  it('names a cell for every event', () => {
    const named = new Set(rows.map(([, event]) => event.type));
    // oxfmt-ignore
    const all: readonly ControlEvent['type'][] = [
      'begin_ok', 'text', 'blank_text', 'end_marker', 'message_end_terminal',
      'message_end_question', 'message_end_open', 'message_end_length', 'seam_verified', 'seam_hopeless',
      'idle_elapsed', 'question_due', 'answer', 'document_again', 'tool_called', 'save_due', 'save_failed',
      'limit_exceeded', 'finalize_ok', 'finalize_needs_corrections', 'finalize_retryable', 'finalize_refused',
      'correction_usable', 'correction_unusable', 'stream_error', 'cancelled', 'abort', 'graceful_stop', 'inactive',
      'recover_accepted', 'lease_lost', 'finalize_command',
    ];
    expect([...named].sort()).toEqual([...all].sort());
  });
});

describe('R015: the cells that depend on a count or a setting', () => {
  const noPrompts: ControlLimits = { ...limits, idleMs: 0 };
  const unasked: ControlLimits = { ...limits, unasked: endQuestion };
  // oxfmt-ignore
  const cases: readonly (readonly [string, ControlState, ControlEvent, string, ControlLimits?])[] = [
    ['R035: a second marker without content confirms an empty file', { ...states.C, emptyAsked: true }, { type: 'message_end_terminal' }, 'F save finalize'],
    ['R035: only for create', { ...states.C, emptyAsked: true }, { type: 'message_end_terminal' }, '= start_idle_timer', { ...limits, operation: 'overwrite' }],
    ['R035: the prompt after it is P2b', { ...states.C, emptyAsked: true }, { type: 'idle_elapsed' }, 'C(prompts=1 empty) ask_empty'],
    ['R043: nothing to keep at the limit', { ...states.C, idlePrompts: 3 }, { type: 'idle_elapsed' }, 'A(EMPTY_CONTENT) remove_directory'],
    ['R043: paused at the limit, never finalized', { ...states.M, idlePrompts: 3 }, { type: 'idle_elapsed' }, 'P(NO_DONE) save pause release'],
    ['R023: an end that was not asked about is left to be answered, when cancelled', states.M, { type: 'cancelled' }, 'P(end ABORTED) save pause release', unasked],
    ['R023: … when stopped', states.M, { type: 'graceful_stop' }, 'P(end ABORTED) save release', unasked],
    ['R023: … at the size limit', states.M, { type: 'limit_exceeded' }, 'P(end CONTENT_TOO_LARGE) save pause release', unasked],
    ['R023: … at an error that no continuation mends', states.M, { ...streamError, retryable: false }, 'P(end STREAM_BROKEN) save pause release', unasked],
    ['R023: … but an open question comes first', { ...states.M, question: nearMiss }, { type: 'cancelled' }, 'P(near_miss ABORTED) save pause release', unasked],
    ['R043: an open question stays open', { ...states.M, idlePrompts: 3, question: endQuestion }, { type: 'idle_elapsed' }, 'P(end NO_DONE) save pause release'],
    ['R043: in Q too', { ...states.Q, idlePrompts: 3 }, { type: 'idle_elapsed' }, 'P(end NO_DONE) save pause release'],
    ['R023: the idle prompt of an ambiguous DONE is its question', { ...states.M, question: endQuestion }, { type: 'idle_elapsed' }, 'Q(prompts=1 end) ask_question'],
    ['R042: new content resets the count', { ...states.M, idlePrompts: 2 }, { type: 'text', text: 'x' }, 'M cancel_idle_timer buffer'],
    ['R038: 0 pauses at message end, in C', states.C, { type: 'message_end_open' }, 'P(NO_DONE) save pause release', noPrompts],
    ['R038: 0 pauses after an empty marker', states.C, { type: 'message_end_terminal' }, 'P(EMPTY_CONTENT) save pause release', noPrompts],
    ['R038: 0 pauses at message end, in M', states.M, { type: 'message_end_open' }, 'P(NO_DONE) save pause release', noPrompts],
    ['R038: 0 keeps the question open', states.M, { type: 'message_end_question', question: endQuestion }, 'P(end NO_DONE) save pause release', noPrompts],
    ['R038: 0 after a bare DONE and a broken stream', states.M, { ...streamError, afterDone: true }, 'P(NO_DONE) save pause release', noPrompts],
    ['R038: 0 in Q', states.Q, { type: 'answer', answer: { kind: 'unusable' } }, 'P(end NO_DONE) save pause release', noPrompts],
    ['three requests without a message pause, in C', { ...states.C, retries: 3 }, { type: 'message_end_length', progress: false }, 'P(NO_DONE) save pause release'],
    ['three errors pause with their code, in C', { ...states.C, retries: 3 }, streamError, 'P(STREAM_BROKEN) save pause release'],
    ['three errors pause with their code, in Q', { ...states.Q, retries: 3 }, streamError, 'P(end STREAM_BROKEN) save pause release'],
    ['R047 rule 10: three replies without progress', { ...states.M, stalledReplies: 2 }, { type: 'message_end_length', progress: false }, 'P(NO_DONE) save pause release'],
    ['R047 rule 10: a stalled reply is counted', states.M, { type: 'message_end_length', progress: false }, 'M(stalled=1) save ask_continuation'],
    ['R047 rule 10: progress resets the count', { ...states.M, stalledReplies: 2 }, { type: 'message_end_length', progress: true }, 'M save ask_continuation'],
    ['R047 rule 10: broken streams count too', { ...states.M, stalledReplies: 2 }, { ...streamError, progress: false }, 'P(STREAM_BROKEN) save pause release'],
    ['R089: two repeats of a commit, then P', { ...states.F, attempts: 2 }, { type: 'finalize_retryable', code: 'DISK_FULL' }, 'P(DISK_FULL) save pause release'],
    ['R098: three rounds, then safe replacement', { ...states.N, round: 2 }, { type: 'correction_unusable' }, 'F end_round safe_replacement save finalize'],
    ['R098: by the timer too', { ...states.N, round: 2 }, { type: 'idle_elapsed' }, 'F end_round safe_replacement save finalize'],
    ['R098: a round that has ended is not asked again', states.F, { type: 'finalize_needs_corrections', places: [], round: 2, asked: 'model' }, 'N(round=2) save ask_corrections'],
    ['R098: still invalid after three rounds', states.F, { type: 'finalize_needs_corrections', places: [], round: 3, asked: 'model' }, '= safe_replacement save finalize'],
    ['where a program is asked', states.F, { type: 'finalize_needs_corrections', places: [], round: 2, asked: 'program' }, 'P(INVALID_CONTENT) save pause release'],
    ['R099: where no model is to be asked', states.F, { type: 'finalize_needs_corrections', places: [], round: 0, asked: 'nobody' }, '= safe_replacement save finalize'],
    ['R021: DONE leaves a near miss out', { ...states.Q, question: nearMiss }, { type: 'answer', answer: { kind: 'done' } }, 'F leave_out save finalize'],
    ['R021: KEEP keeps it', { ...states.Q, question: nearMiss }, { type: 'answer', answer: { kind: 'keep' } }, 'F keep_all save finalize'],
    ['R021: STRIP is no answer to it', { ...states.Q, question: nearMiss }, { type: 'answer', answer: { kind: 'strip' } }, '✗'],
    ['R021: END is no answer to it', { ...states.Q, question: nearMiss }, { type: 'answer', answer: { kind: 'end', line: 2 } }, '✗'],
    ['R021: a near miss can be followed by text', { ...states.Q, question: nearMiss }, { type: 'answer', answer: { kind: 'text' } }, 'M(prompts=1 near_miss reply) seam_reader'],
    ['R270: a verified seam alone answers no question', { ...states.M, question: endQuestion }, { type: 'seam_verified' }, '='],
    ['R270: the text behind it does', { ...states.M, question: endQuestion }, { type: 'text', text: 'x' }, 'M cancel_idle_timer buffer'],
    ['R270: a DONE behind nothing new does not', { ...states.M, question: endQuestion }, { type: 'message_end_terminal' }, 'Q(end again) save start_idle_timer'],
    ['R270: what was held back is no part of what a verified seam repeats', { ...states.M, question: { ...nearMiss, heldBack: true } }, { type: 'seam_verified' }, 'M'],
    ['R270: a reply that does not join is asked again', { ...states.M, question: endQuestion, idlePrompts: 2 }, { type: 'seam_hopeless', remedy: 'ask_question' }, 'Q(prompts=2 end again) save start_idle_timer'],
    ['R270: without prompts it pauses, the question open', { ...states.M, question: endQuestion }, { type: 'seam_hopeless', remedy: 'ask_question' }, 'P(end NO_DONE) save pause release', noPrompts],
    ['R270: it is never appended in place of the question', { ...states.M, question: endQuestion }, { type: 'seam_hopeless', remedy: 'accept', via: 'tail', end: { kind: 'stop' } }, '✗'],
    ['R270: it leads to no other request in its place', { ...states.M, question: endQuestion }, { type: 'seam_hopeless', remedy: 'ask_again', expecting: continuation }, '✗'],
    ['R270: nor to a bridge', { ...states.M, question: endQuestion }, { type: 'seam_hopeless', remedy: 'ask_bridge', expecting: bridge }, '✗'],
    ['R270: nor to a pause without it', { ...states.M, question: endQuestion }, { type: 'seam_hopeless', remedy: 'pause' }, '✗'],
    ['R270: a reply of blanks is asked again', { ...states.M, question: nearMiss }, { type: 'message_end_open' }, 'Q(near_miss again) save start_idle_timer'],
    ['R270: a reply that was cut off is asked again', { ...states.M, question: nearMiss }, { type: 'message_end_length', progress: true }, 'Q(near_miss again) save start_idle_timer'],
    ['R270: a reply that broke is asked again', { ...states.M, question: nearMiss }, streamError, 'Q(near_miss again) save start_idle_timer'],
    ['R270: also after a bare DONE', { ...states.M, question: nearMiss }, { ...streamError, afterDone: true }, 'Q(near_miss again) save start_idle_timer'],
    ['R270: an error that cannot pass leaves it open', { ...states.M, question: nearMiss }, { ...streamError, retryable: false, code: 'PROVIDER_AUTH' }, 'P(near_miss PROVIDER_AUTH) save pause release'],
    ['R270: no reply asks a question that is not open', states.M, { type: 'seam_hopeless', remedy: 'ask_question' }, '✗'],
    ['R032: STRIP', { ...states.Q, question: fence }, { type: 'answer', answer: { kind: 'strip' } }, 'F strip_fence save finalize'],
    ['R032: KEEP', { ...states.Q, question: fence }, { type: 'answer', answer: { kind: 'keep' } }, 'F keep_all save finalize'],
    ['R032: DONE is no answer to it', { ...states.Q, question: fence }, { type: 'answer', answer: { kind: 'done' } }, '✗'],
    ['R032: text is no answer to it', { ...states.Q, question: fence }, { type: 'answer', answer: { kind: 'text' } }, '✗'],
    ['R249: asked once the file would be written', states.F, { type: 'question_due', question: omission, messageOpen: false, attended: true }, 'Q(omission) save ask_question'],
    ['R249: KEEP', { ...states.Q, question: omission }, { type: 'answer', answer: { kind: 'keep' } }, 'F keep_all save finalize'],
    ['R249: AGAIN', { ...states.Q, question: omission }, { type: 'answer', answer: { kind: 'again' } }, 'C start_over ask_anew'],
    ['R249: STRIP is no answer to it', { ...states.Q, question: omission }, { type: 'answer', answer: { kind: 'strip' } }, '✗'],
    ['R249: DONE is no answer to it', { ...states.Q, question: omission }, { type: 'answer', answer: { kind: 'done' } }, '✗'],
    ['R249: END is no answer to it', { ...states.Q, question: omission }, { type: 'answer', answer: { kind: 'end', line: 2 } }, '✗'],
    ['R249: text is no answer to it', { ...states.Q, question: omission }, { type: 'answer', answer: { kind: 'text' } }, '✗'],
    ['R249: without a usable answer it stays open', { ...states.Q, question: omission, idlePrompts: 3 }, { type: 'idle_elapsed' }, 'P(omission NO_DONE) save pause release'],
    ['R271: DROP', { ...states.Q, question: lead }, { type: 'answer', answer: { kind: 'drop' } }, 'F drop_lead save finalize'],
    ['R271: KEEP', { ...states.Q, question: lead }, { type: 'answer', answer: { kind: 'keep' } }, 'F keep_all save finalize'],
    ['R271: STRIP is no answer to it', { ...states.Q, question: lead }, { type: 'answer', answer: { kind: 'strip' } }, '✗'],
    ['R271: DONE is no answer to it', { ...states.Q, question: lead }, { type: 'answer', answer: { kind: 'done' } }, '✗'],
    ['R271: AGAIN is no answer to it', { ...states.Q, question: lead }, { type: 'answer', answer: { kind: 'again' } }, '✗'],
    ['R271: text is no answer to it', { ...states.Q, question: lead }, { type: 'answer', answer: { kind: 'text' } }, '✗'],
    ['R271: it is asked before finalizing', states.F, { type: 'question_due', question: lead, messageOpen: false, attended: true }, 'Q(lead) save ask_question'],
    ['R271: paused, it needs its answer', { ...states.P, question: lead }, { type: 'finalize_command', answered: false }, 'QUESTION_OPEN'],
    ['R271: DROP is no answer to a fence', { ...states.Q, question: fence }, { type: 'answer', answer: { kind: 'drop' } }, '✗'],
    ['R032: until the question is asked, text is chat', { ...states.Q, question: fence, asked: false }, { type: 'text', text: 'x' }, 'chat'],
    ['R032: it is asked once the message has ended', { ...states.Q, question: fence, asked: false }, { type: 'message_end_open' }, 'Q(prompts=1 fence) ask_question'],
    ['R032: also when the message broke', { ...states.Q, question: fence, asked: false }, streamError, 'Q(prompts=1 fence) ask_question'],
    ['a paused session with a question needs an answer', { ...states.P, question: endQuestion }, { type: 'finalize_command', answered: false }, 'QUESTION_OPEN'],
    ['a paused session with an answer', { ...states.P, question: endQuestion }, { type: 'finalize_command', answered: true }, 'F save finalize'],
    ['done resets the controller', { kind: 'done' }, { type: 'begin_ok' }, 'C'],
    ['aborted resets the controller', { kind: 'aborted', code: 'EMPTY_CONTENT' }, { type: 'begin_ok' }, 'C'],
  ];
  for (const [name, state, event, cell, applied] of cases) {
    it(name, () => {
      expect(cellOf(state, event, applied ?? limits)).toBe(cell);
    });
  }
});

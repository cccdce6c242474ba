import type { FaceQuestion } from './face.ts';
import type { TypedInput } from './typed-input.ts';

/**
 * What a conversation on a terminal does next: given what it is doing and what happened, what it does now and which
 * effects that has.
 *
 * C1. At most one job runs at a time: a turn, or a command that excludes turns.
 * C2. What was sent during a job waits, and becomes a job once, in its order, after it: unless it was taken back or
 *     handed back, or the person left first.
 * C3. Every question is settled once, by an answer or without one.
 * C4. The first stop cancels the job, and hands back what waits for its end: whoever stops a job does not want the next
 *     one. A second stop leaves in order; a third one leaves at once. Esc never leaves.
 * C5. From leaving there is no way back: nothing starts any more, and what is asked is settled without an answer.
 */
export type ChatState = {
  readonly phase: ChatPhase;
  /** The oldest first. */
  readonly waiting: readonly Waiting[];
  /** The first one is shown. */
  readonly questions: readonly FaceQuestion[];
};

export type ChatPhase =
  /** `warnedAt`: when Ctrl-C was answered with what another one does. */
  | { readonly kind: 'idle'; readonly warnedAt: number | null }
  | { readonly kind: 'working'; readonly job: ChatJob }
  /** The job was cancelled and saves what it has. */
  | { readonly kind: 'stopping' }
  | { readonly kind: 'leaving' };

export type ChatJob =
  /** Looks for what was left open. */
  { readonly kind: 'start' } | { readonly kind: 'typed'; readonly waited: Waiting };

/** What was sent and is not yet a job. */
export type Waiting = {
  /** Never that of another one. */
  readonly key: number;
  readonly input: Exclude<TypedInput, { kind: 'empty' }>;
  /** Its id where it is stored already: a crash left it. */
  readonly storedId: string | null;
};

export type Answer = { readonly value: string; readonly text: string };

/** `at`: milliseconds that only grow. */
export type ChatEvent =
  | { readonly type: 'sent'; readonly waiting: Waiting }
  /** A command that runs beside whatever runs. */
  | { readonly type: 'sent_beside'; readonly waiting: Waiting }
  | { readonly type: 'stop' }
  | { readonly type: 'interrupt'; readonly draft: string; readonly at: number }
  | { readonly type: 'leave' }
  | { readonly type: 'recall' }
  | { readonly type: 'asked'; readonly question: FaceQuestion }
  | { readonly type: 'answered'; readonly id: number; readonly answer: Answer | null }
  /** Whoever asked does not need the answer any more. */
  | { readonly type: 'withdrawn'; readonly id: number }
  | { readonly type: 'job_ended' };

export type ChatEffect =
  | { readonly type: 'run'; readonly job: ChatJob }
  | { readonly type: 'run_beside'; readonly waiting: Waiting }
  | { readonly type: 'cancel' }
  | { readonly type: 'settle'; readonly id: number; readonly answer: Answer | null }
  /** So that it survives a crash. */
  | { readonly type: 'store'; readonly waiting: Waiting }
  /** It was taken back. */
  | { readonly type: 'unstore'; readonly waiting: Waiting }
  /** It is not sent: the person decides again. The oldest first. */
  | { readonly type: 'hand_back'; readonly waiting: readonly Waiting[] }
  | { readonly type: 'set_draft'; readonly text: string }
  /** Into the history of prompts, although it was not sent. */
  | { readonly type: 'remember'; readonly text: string }
  | { readonly type: 'say'; readonly what: 'stopping' | 'again_to_leave' | 'leaving' }
  | { readonly type: 'leave' }
  | { readonly type: 'exit' };

type Step = { readonly state: ChatState; readonly effects: readonly ChatEffect[] };

/** For how long a second Ctrl-C on an empty line leaves. */
export const LEAVE_WITHIN_MS = 2000;

export const STARTING: ChatState = {
  phase: { kind: 'working', job: { kind: 'start' } },
  waiting: [],
  questions: [],
};

export function advance(state: ChatState, event: ChatEvent): Step {
  const { phase } = state;
  switch (event.type) {
    case 'sent':
      return send(state, event.waiting);
    case 'sent_beside':
      return phase.kind === 'leaving'
        ? same(state)
        : same(state, { type: 'run_beside', waiting: event.waiting });
    case 'stop':
      if (phase.kind === 'working') return cancel(state, phase.job);
      return phase.kind === 'stopping' ? handBack(state) : same(state);
    case 'interrupt':
      return interrupt(state, event);
    case 'leave':
      return phase.kind === 'leaving' ? same(state) : leave(state);
    case 'recall':
      return recall(state);
    case 'asked':
      return phase.kind === 'leaving'
        ? same(state, { type: 'settle', id: event.question.id, answer: null })
        : same({ ...state, questions: [...state.questions, event.question] });
    case 'answered':
      return settle(state, event.id, event.answer);
    case 'withdrawn':
      return settle(state, event.id, null);
    case 'job_ended':
      return next(state);
    default:
      return event satisfies never;
  }
}

function same(state: ChatState, ...effects: readonly ChatEffect[]): Step {
  return { state, effects };
}

function send(state: ChatState, waiting: Waiting): Step {
  const { phase } = state;
  switch (phase.kind) {
    case 'idle':
      return start(state, waiting);
    case 'working':
    case 'stopping': {
      const waits = { ...state, waiting: [...state.waiting, waiting] };
      const isLost = waiting.input.kind === 'prompt' && waiting.storedId === null;
      return isLost ? same(waits, { type: 'store', waiting }) : same(waits);
    }
    case 'leaving':
      return same(state);
    default:
      return phase satisfies never;
  }
}

function start(state: ChatState, waited: Waiting): Step {
  const job: ChatJob = { kind: 'typed', waited };
  return same({ ...state, phase: { kind: 'working', job } }, { type: 'run', job });
}

/** After a job: the next one, if something waits. */
function next(state: ChatState): Step {
  if (state.phase.kind === 'leaving') return same(state);
  const [first, ...waiting] = state.waiting;
  if (first === undefined) return same({ ...state, phase: { kind: 'idle', warnedAt: null } });
  return start({ ...state, waiting }, first);
}

function cancel(state: ChatState, job: ChatJob): Step {
  const says = job.kind === 'start' ? [] : [{ type: 'say', what: 'stopping' } as const];
  const stopped = handBack({ ...state, phase: { kind: 'stopping' } });
  return { ...stopped, effects: [...says, { type: 'cancel' }, ...stopped.effects] };
}

function handBack(state: ChatState): Step {
  const { waiting } = state;
  return waiting.length === 0
    ? same(state)
    : same({ ...state, waiting: [] }, { type: 'hand_back', waiting });
}

function interrupt(state: ChatState, { draft, at }: { draft: string; at: number }): Step {
  const { phase } = state;
  switch (phase.kind) {
    case 'working':
      return cancel(state, phase.job);
    case 'stopping':
      return leave(state);
    case 'leaving':
      return same(state, { type: 'exit' });
    case 'idle': {
      if (draft !== '') {
        return same(
          { ...state, phase: { kind: 'idle', warnedAt: null } },
          { type: 'remember', text: draft },
          { type: 'set_draft', text: '' },
        );
      }
      if (phase.warnedAt !== null && at - phase.warnedAt <= LEAVE_WITHIN_MS) return leave(state);
      return same(
        { ...state, phase: { kind: 'idle', warnedAt: at } },
        { type: 'say', what: 'again_to_leave' },
      );
    }
    default:
      return phase satisfies never;
  }
}

/** What waits stays stored, and is offered by the next start. */
function leave({ phase, questions }: ChatState): Step {
  return same(
    { phase: { kind: 'leaving' }, waiting: [], questions: [] },
    ...(phase.kind === 'idle' ? [] : [{ type: 'say', what: 'leaving' } as const]),
    ...questions.map(({ id }) => ({ type: 'settle', id, answer: null }) as const),
    { type: 'cancel' },
    { type: 'leave' },
  );
}

function recall(state: ChatState): Step {
  const last = state.waiting.at(-1);
  if (last === undefined) return same(state);
  return same(
    { ...state, waiting: state.waiting.slice(0, -1) },
    { type: 'unstore', waiting: last },
    { type: 'set_draft', text: last.input.typed },
  );
}

/** Of several answers to one question the first one counts. */
function settle(state: ChatState, id: number, answer: Answer | null): Step {
  const questions = state.questions.filter((question) => question.id !== id);
  if (questions.length === state.questions.length) return same(state);
  return same({ ...state, questions }, { type: 'settle', id, answer });
}

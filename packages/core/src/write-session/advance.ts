import type {
  EndCandidate,
  SessionMetadata,
  SessionQuestion,
  SessionRecord,
  TextCorrection,
} from '@orion/contracts';

import type { Omission } from '../validation/omissions.ts';
import { openQuestionOf, stateNameOf } from './control.ts';
import type { OutsideEvent } from './control.ts';
import { endMessage, readText, startMessage } from './message-reading.ts';
import { EFFECTS } from './effects.ts';
import { hasRoomFor } from './reading/answer-reading.ts';
import { correctionsNeeded } from './reading/correction-reading.ts';
import { endHeldText, readHeldText } from './reading/bridge-reading.ts';
import { settleElapsed } from './reading/direct-reading.ts';
import { endingQuestion } from './questions/end.ts';
import type { CommandAnswer } from './questions/question-row.ts';
import { choiceFor } from './questions/questions.ts';
import { ask, emitFinalize, finalize } from './finishing.ts';
import { isContent, NOT_READING, textOf } from './session.ts';
import type {
  SessionInput,
  SessionSettings,
  SessionStep,
  TimerName,
  WriteSession,
} from './session.ts';
import { handle, Step, stopIdleTimer } from './step.ts';
import type { Handlers } from './step.ts';
import { createSummary, wholeFenceLedger } from './text/content-summary.ts';
import type { ContentSummary } from './text/content-summary.ts';
import { mergedLines } from './text/markers/inner-done.ts';
import type { InnerDone } from './text/markers/inner-done.ts';
import { targetKindOf } from './text/target-kind.ts';
import { opensThinkBlock } from './text/think-block.ts';

/** The number of suspected lines that a question quotes. */
const MAX_QUOTED_OMISSIONS = 5;

/** A new session, which waits for its first message. */
export function createSession(metadata: SessionMetadata, settings: SessionSettings): SessionStep {
  const step = new Step(blankSession(metadata, settings, createSummary()), EFFECTS);
  step.dispatch({ type: 'begin_ok' });
  return step.result();
}

/**
 * A session as another process left it on disk. It waits for `recover` or a `finalize_command`.
 */
export function restoreSession(options: {
  readonly metadata: SessionMetadata;
  readonly settings: SessionSettings;
  readonly record: SessionRecord | null;
  readonly summary: ContentSummary;
  /** The bare DONE lines of the content; the record lacks those of a message that never ended. */
  readonly innerDone: InnerDone;
}): WriteSession {
  const { metadata, record, summary } = options;
  const isUploaded = metadata.uploaded === true;
  const settings: SessionSettings = isUploaded
    ? { ...options.settings, strict: true, stripFence: 'never' }
    : options.settings;
  const session = blankSession(metadata, settings, summary);
  const innerDone: InnerDone = settings.strict ? { lines: [], chatEnds: [] } : options.innerDone;
  const unaskedEnds = unaskedOf(record, innerDone);
  const question = record?.question ?? endingQuestion(unaskedEnds);
  return {
    ...session,
    control: { kind: 'paused', code: 'NO_DONE', question },
    thinking: record === null ? unrecordedThinking(summary) : (record.thinking ?? 'none'),
    blankLinesDropped: record?.leading_blank_lines_dropped ?? 0,
    seams: record?.seams ?? [],
    innerDoneLines: mergedLines(record?.inner_done_lines ?? [], innerDone.lines),
    unaskedEnds: question?.kind === 'end' ? [] : unaskedEnds,
    endsSettled: question?.kind === 'end' ? summary.bytes : (record?.ends_settled ?? 0),
    contentStart: record?.content_start ?? 0,
    contentEnd: record?.content_end ?? null,
    fenceStripped: record?.fence_stripped ?? false,
    fenceAsked: record?.fence_asked ?? false,
    leadDropped: record?.lead_dropped ?? false,
    leadAsked: record?.lead_asked ?? false,
    cutOff: !isUploaded && (record === null || (record.cut_off ?? false)),
    startedOver: record?.started_over ?? false,
    endedByDone: record?.ended_by_done ?? false,
    omissionsAsked: record?.omissions_asked ?? false,
    repair: record?.repair ?? null,
    hasEnded: record?.has_ended ?? record?.state === 'session_active.finalizing',
  };
}

/** Without a record it is unknown whether the adapter reads think tags itself, so the receipt names the block. */
function unrecordedThinking(summary: ContentSummary): WriteSession['thinking'] {
  const [first] = wholeFenceLedger(summary).firstLines;
  return first !== undefined && opensThinkBlock(first.text) ? 'kept' : 'none';
}

/** Nothing is left to ask once the end of the file is decided, or its repair has begun. */
function unaskedOf(record: SessionRecord | null, { chatEnds }: InnerDone): readonly EndCandidate[] {
  if (record?.content_end !== undefined || record?.repair !== undefined) return [];
  const settled = Math.max(record?.ends_settled ?? 0, record?.content_start ?? 0);
  return chatEnds.filter(({ contentEnd }) => contentEnd >= settled);
}

function blankSession(
  metadata: SessionMetadata,
  settings: SessionSettings,
  summary: ContentSummary,
): WriteSession {
  return {
    ...textOf(summary),
    control: { kind: 'idle' },
    metadata,
    settings,
    kind: targetKindOf(metadata.target_file),
    reading: NOT_READING,
    thinkTags: false,
    skipping: null,
    startedOver: false,
    omissionsAsked: false,
    byHand: 'no',
    saveTimerRuns: false,
    message: null,
  };
}

/** The only way to change a session. Pure: takes what happened, returns the next session and what to do. */
export function advance(session: WriteSession, input: SessionInput): SessionStep {
  const step = new Step(session, EFFECTS);
  handle(INPUTS, step, input);
  return step.result();
}

const INPUTS: Handlers<SessionInput> = {
  message_started: (step, { thinkTags = false, prefilled = false }) => {
    step.update({ thinkTags });
    startMessage(step, prefilled);
  },
  reasoning: (step) => step.update({ thinkTags: false }),
  text: (step, { text }) => readText(step, text),
  message_ended: (step, { end }) => endMessage(step, end),
  held_text: (step, { text }) => readHeldText(step, text),
  held_end: endHeldText,
  timer: (step, { timer }) => TIMERS[timer](step),
  corrections_needed: correctionsNeeded,
  omissions_suspected: omissionsSuspected,
  examined: (step, { summary }) => {
    step.update({ fileSummary: summary });
    // If the lease was lost meanwhile, the session has ended here.
    if (step.session.control.kind === 'finalizing') finalize(step, false);
  },
  finalize_failed: (step, { code, message, retryable }) => {
    step.update({ message });
    step.dispatch({ type: retryable ? 'finalize_retryable' : 'finalize_refused', code });
  },
  recover,
  finalize_command: finalizeCommand,
  upload_ended: uploadEnded,

  tool_called: decided,
  save_failed: decided,
  finalize_ok: decided,
  cancelled: (step, event) => {
    // A held marker is discarded; held text that may not belong to the file is set aside.
    if (step.session.reading.kind === 'seam') step.emit({ type: 'set_aside_held' });
    leave(step, event);
  },
  abort: leave,
  graceful_stop: leave,
  inactive: leave,
  lease_lost: leave,
};

/** Leaves the decision to the state table. */
function decided(step: Step, event: OutsideEvent): void {
  step.dispatch(event);
}

function leave(step: Step, event: OutsideEvent): void {
  step.leaveMessage();
  step.dispatch(event);
}

const TIMERS: { readonly [Name in TimerName]: (step: Step) => void } = {
  idle: (step) => {
    // The timer may have been cancelled while its callback was already pending.
    if (!stopIdleTimer(step)) return;
    step.trace('idle_elapsed', { state: stateNameOf(step.session.control) });
    step.dispatch({ type: 'idle_elapsed' });
  },
  settle: settleElapsed,
  save: (step) => {
    if (!step.session.saveTimerRuns) return;
    step.update({ saveTimerRuns: false });
    step.dispatch({ type: 'save_due' });
  },
  save_retry: (step) => step.dispatch({ type: 'save_due' }),
  finalize_retry: (step) => {
    if (step.session.control.kind === 'finalizing') emitFinalize(step);
  },
};

function recover(step: Step): void {
  const { session } = step;
  const question = openQuestionOf(session.control);
  // Once it is decided which text is the file, nothing is added to it.
  const complete = session.repair !== null || session.contentEnd !== null || session.leadDropped;
  // A question about the text's wrapping belongs to its end, which may be missing: the text is continued first.
  const isEarly = question?.kind === 'fence' || question?.kind === 'lead';
  const goesOn = session.cutOff && isEarly && !complete;
  if (goesOn) step.update({ fenceAsked: false, leadAsked: false });
  step.dispatch({
    type: 'recover_accepted',
    content: session.summary.hasNonBlankLine,
    question: goesOn ? null : question,
    complete,
  });
}

/** Asks once, before anything is written. */
function omissionsSuspected(
  step: Step,
  { omissions }: { readonly omissions: readonly Omission[] },
): void {
  step.update({ omissionsAsked: true });
  const lines = omissions.slice(0, MAX_QUOTED_OMISSIONS);
  ask(step, { kind: 'omission', lines, count: omissions.length }, false);
}

function finalizeCommand(step: Step, { answer }: { readonly answer: CommandAnswer | null }): void {
  const question = openQuestionOf(step.session.control);
  if (step.session.summary.bytes === 0) {
    step.refuse('EMPTY_CONTENT');
  } else if (answer === null) {
    step.update({ byHand: 'decided', fenceAsked: true });
    step.dispatch({ type: 'finalize_command', answered: question === null });
  } else if (question === null) {
    step.refuse('USAGE');
  } else {
    answerByHand(step, question, answer);
  }
}

/** Nothing is asked about the text but what is not valid in it, and that of the program. */
function uploadEnded(
  step: Step,
  { corrections }: { readonly corrections: readonly TextCorrection[] | null },
): void {
  step.update({ byHand: 'uploaded', hasEnded: true });
  if (corrections !== null) step.perform({ type: 'end_round', corrections });
  step.dispatch({ type: 'finalize_command', answered: true });
}

function answerByHand(step: Step, question: SessionQuestion, answer: CommandAnswer): void {
  const chosen = choiceFor(question, answer);
  if (chosen === null) {
    step.dispatch({ type: 'finalize_command', answered: false });
  } else if (hasRoomFor(step, chosen.effect)) {
    step.perform(chosen.effect);
    step.update({ hasEnded: true, byHand: 'answered' });
    step.dispatch({ type: 'finalize_command', answered: true });
  } else {
    step.exceedLimit();
  }
}

/** What `state.json` contains of a session. */
export function recordOf(session: WriteSession): SessionRecord {
  const { control } = session;
  const question = openQuestionOf(control);
  return {
    version: 1,
    state: stateNameOf(control),
    ...(question === null ? {} : { question }),
    ...(session.contentStart === 0 ? {} : { content_start: session.contentStart }),
    ...(session.contentEnd === null ? {} : { content_end: session.contentEnd }),
    fence_stripped: session.fenceStripped,
    fence_asked: session.fenceAsked,
    ...(session.leadAsked ? { lead_asked: true } : {}),
    ...(session.leadDropped ? { lead_dropped: true } : {}),
    ...(session.cutOff || isContent(session.reading) ? { cut_off: true } : {}),
    ...(session.startedOver ? { started_over: true } : {}),
    ...(session.endedByDone ? { ended_by_done: true } : {}),
    ...(session.omissionsAsked ? { omissions_asked: true } : {}),
    ...(session.repair === null ? {} : { repair: session.repair }),
    ...(session.thinking === 'none' ? {} : { thinking: session.thinking }),
    ...(session.blankLinesDropped === 0
      ? {}
      : { leading_blank_lines_dropped: session.blankLinesDropped }),
    has_ended: session.hasEnded,
    inner_done_lines: session.innerDoneLines,
    ...(session.endsSettled === 0 ? {} : { ends_settled: session.endsSettled }),
    seams: session.seams,
    idle_prompts: 'idlePrompts' in control ? control.idlePrompts : 0,
    ...(control.kind === 'paused' ? { code: control.code } : {}),
  };
}

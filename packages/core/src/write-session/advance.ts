import type { EndCandidate, SessionMetadata, SessionRecord } from '@orion/contracts';

import type { Omission } from '../validation/omissions.ts';
import { openQuestionOf, stateNameOf } from './control.ts';
import { endMessage, readText, startMessage } from './message-reading.ts';
import { EFFECTS } from './effects.ts';
import { hasRoomFor } from './reading/answer-reading.ts';
import { correctionsNeeded } from './reading/correction-reading.ts';
import { endHeldText, readHeldText } from './reading/bridge-reading.ts';
import { settleElapsed } from './reading/direct-reading.ts';
import type { CommandAnswer } from './questions/question-row.ts';
import { choiceFor } from './questions/questions.ts';
import { ask, emitFinalize, finalize, settle } from './finishing.ts';
import { isContent, NOT_READING, textOf } from './session.ts';
import type {
  SessionInput,
  SessionSettings,
  SessionStep,
  TimerName,
  WriteSession,
} from './session.ts';
import { Step, stopIdleTimer } from './step.ts';
import { createSummary, wholeFenceLedger } from './text/content-summary.ts';
import type { ContentSummary } from './text/content-summary.ts';
import { endQuestion, mergedLines } from './text/markers/inner-done.ts';
import type { InnerDone } from './text/markers/inner-done.ts';
import { targetKindOf } from './text/target-kind.ts';
import { opensThinkBlock } from './text/think-block.ts';

/** As many lines of left-out text as a question quotes. */
const MAX_QUOTED_OMISSIONS = 5;

/** A session whose begin succeeded: it waits for its first message. */
export function createSession(metadata: SessionMetadata, settings: SessionSettings): SessionStep {
  const step = new Step(blankSession(metadata, settings, createSummary()), EFFECTS);
  step.dispatch({ type: 'begin_ok' });
  return step.result();
}

/**
 * A session that another process left behind, as it lies on the disk. It waits for `recover` or a
 * `finalize_command`.
 */
export function restoreSession(options: {
  readonly metadata: SessionMetadata;
  readonly settings: SessionSettings;
  readonly record: SessionRecord | null;
  readonly summary: ContentSummary;
  /** The bare DONE lines of the content: those of a message that never ended are in no record. */
  readonly innerDone: InnerDone;
}): WriteSession {
  const { metadata, settings, record, summary } = options;
  const session = blankSession(metadata, settings, summary);
  const innerDone: InnerDone = settings.strict ? { lines: [], chatEnds: [] } : options.innerDone;
  const unaskedEnds = unaskedOf(record, innerDone);
  const question = record?.question ?? endQuestion(unaskedEnds);
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
    cutOff: record === null || (record.cut_off ?? false),
    startedOver: record?.started_over ?? false,
    endedByDone: record?.ended_by_done ?? false,
    omissionsAsked: record?.omissions_asked ?? false,
    repair: record?.repair ?? null,
    hasEnded: record?.has_ended ?? record?.state === 'session_active.finalizing',
  };
}

/** Nothing was written down of the message: whether the adapter reads think tags itself is not known, so it is named. */
function unrecordedThinking(summary: ContentSummary): WriteSession['thinking'] {
  const [first] = wholeFenceLedger(summary).firstLines;
  return first !== undefined && opensThinkBlock(first.text) ? 'kept' : 'none';
}

/** Where the end of the file was decided on, or its text found complete, there is nothing left to ask. */
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

/** The one door: what happened in, the next session and what is to be done out. Pure. */
export function advance(session: WriteSession, input: SessionInput): SessionStep {
  const step = new Step(session, EFFECTS);
  switch (input.type) {
    case 'message_started':
      step.update({ thinkTags: input.thinkTags ?? false });
      startMessage(step, input.prefilled ?? false);
      break;
    case 'reasoning':
      step.update({ thinkTags: false });
      break;
    case 'text':
      readText(step, input.text);
      break;
    case 'message_ended':
      endMessage(step, input.end);
      break;
    case 'held_text':
      readHeldText(step, input.text);
      break;
    case 'held_end':
      endHeldText(step);
      break;
    case 'timer':
      timerElapsed(step, input.timer);
      break;
    case 'save_failed':
      step.dispatch({ type: 'save_failed' });
      break;
    case 'finalized':
      step.dispatch({ type: 'finalize_ok' });
      break;
    case 'corrections_needed':
      correctionsNeeded(step, input.places, input.count);
      break;
    case 'omissions_suspected':
      omissionsSuspected(step, input.omissions);
      break;
    case 'examined':
      step.update({ fileSummary: input.summary });
      // A lease that was lost meanwhile has ended the session here.
      if (step.session.control.kind === 'finalizing') finalize(step, false);
      break;
    case 'finalize_failed':
      step.update({ message: input.message });
      step.dispatch(
        input.retryable
          ? { type: 'finalize_retryable', code: input.code }
          : { type: 'finalize_refused', code: input.code },
      );
      break;
    case 'tool_called':
      step.dispatch({ type: 'tool_called' });
      break;
    case 'cancelled':
      cancelled(step);
      break;
    case 'aborted':
      step.leaveMessage();
      step.dispatch({ type: 'abort', writing: input.writing });
      break;
    case 'stopped':
      step.leaveMessage();
      step.dispatch({ type: 'graceful_stop' });
      break;
    case 'inactive':
      step.leaveMessage();
      step.dispatch({ type: 'inactive' });
      break;
    case 'lease_lost':
      step.leaveMessage();
      step.dispatch({ type: 'lease_lost', writing: input.writing });
      break;
    case 'recover':
      recover(step);
      break;
    case 'finalize_command':
      finalizeCommand(step, input.answer);
      break;
    default:
      input satisfies never;
  }
  return step.result();
}

function recover(step: Step): void {
  const { session } = step;
  const question = openQuestionOf(session.control);
  const complete = isDecided(session);
  // What a text is wrapped in is asked about at its end, which may be missing: first it goes on.
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

/** Whether it was decided what the file is: then nothing more is added to its text. */
function isDecided({ repair, contentEnd, leadDropped }: WriteSession): boolean {
  return repair !== null || contentEnd !== null || leadDropped;
}

/** Asked once, before anything is written. */
function omissionsSuspected(step: Step, omissions: readonly Omission[]): void {
  step.update({ omissionsAsked: true });
  const lines = omissions.slice(0, MAX_QUOTED_OMISSIONS);
  ask(step, { kind: 'omission', lines, count: omissions.length }, false);
}

/** A held marker is discarded, held text that may not belong to the file is kept aside. */
function cancelled(step: Step): void {
  if (step.session.reading.kind === 'seam') step.emit({ type: 'set_aside_held' });
  step.leaveMessage();
  step.dispatch({ type: 'cancelled' });
}

function timerElapsed(step: Step, timer: TimerName): void {
  switch (timer) {
    case 'idle':
      // A timer that was cancelled while its callback was already on its way.
      if (!stopIdleTimer(step)) return;
      step.emit({
        type: 'trace',
        event: 'idle_elapsed',
        details: { state: stateNameOf(step.session.control) },
      });
      step.dispatch({ type: 'idle_elapsed' });
      return;
    case 'settle':
      settleElapsed(step);
      return;
    case 'save':
      if (!step.session.saveTimerRuns) return;
      step.update({ saveTimerRuns: false });
      step.dispatch({ type: 'save_due' });
      return;
    case 'save_retry':
      step.dispatch({ type: 'save_due' });
      return;
    case 'finalize_retry':
      if (step.session.control.kind === 'finalizing') {
        emitFinalize(step);
      }
      return;
    default:
      timer satisfies never;
  }
}

function finalizeCommand(step: Step, answer: CommandAnswer | null): void {
  const question = openQuestionOf(step.session.control);
  if (step.session.summary.bytes === 0) {
    step.emit({
      type: 'refuse',
      code: 'EMPTY_CONTENT',
      message: `Nothing is saved for ${step.session.metadata.target_file}.`,
    });
    return;
  }
  if (answer !== null) {
    if (question === null) {
      step.emit({
        type: 'refuse',
        code: 'USAGE',
        message: 'No question is open in this session: leave out --end-at and --answer.',
      });
      return;
    }
    const chosen = choiceFor(question, answer);
    if (chosen === null) {
      step.dispatch({ type: 'finalize_command', answered: false });
      return;
    }
    if (!hasRoomFor(step, chosen.effect)) {
      step.exceedLimit();
      return;
    }
    settle(step, chosen.effect);
    step.update({ hasEnded: true });
  }
  step.update(answer === null ? { byHand: 'decided', fenceAsked: true } : { byHand: 'answered' });
  step.dispatch({ type: 'finalize_command', answered: question === null || answer !== null });
}

/** What of a session stands in `state.json`. */
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

import { isBlankText } from '@orion/contracts';
import type { SessionQuestion } from '@orion/contracts';

import { openQuestionOf } from '../control.ts';
import type { Continuation, ControlEffect, MessageEnd, SeamRemedy } from '../control.ts';
import { NOT_READING } from '../session.ts';
import type { ReadingOf, SessionSettings } from '../session.ts';
import type { Step } from '../step.ts';
import { canStillBeAnswer, endAnswer, readAnswer } from '../text/answer-reader.ts';
import type { AnswerReader } from '../text/answer-reader.ts';
import { chooseAnchor } from '../text/seams/anchor.ts';
import { endAgain, readAgain } from '../text/document-again.ts';
import { createReplyCensus, endReplyCensus, readReplyCensus } from '../text/seams/reply-census.ts';
import type { ReplyFacts } from '../text/seams/reply-census.ts';
import { createSeamReader, endSeam, readSeam } from '../text/seams/seam-reader.ts';
import type { SeamVerdict } from '../text/seams/seam-reader.ts';
import { cutOff, endingEvent, endWithoutText } from './cut-off.ts';
import {
  directReading,
  endDirect,
  readDirect,
  replayHeld,
  startOverWithHeld,
} from './direct-reading.ts';
import { againReader, answerReader } from './reply-readers.ts';

/** How often the model is asked again after a reply that does not join, before a bridge is tried. */
const MAX_ASKS = 2;

/** A reply with at most this many non-blank lines is too short to be the rest of a file. */
const FEW_LINES = 3;

export type SeamReading = ReadingOf<'seam'>;

/** For a message that starts while text is saved: its place is undecided. */
export function undecidedReading(
  step: Step,
  options: {
    readonly expecting: Continuation;
    readonly prefilled: boolean;
    readonly takesDone: boolean;
  },
): SeamReading {
  const { summary, settings, kind, metadata } = step.session;
  const { expecting, prefilled, takesDone } = options;
  const { isReply, isRecovery } = expecting;
  const anchor = chooseAnchor(summary);
  const readToEnd = mayBeRest(expecting, settings);
  return {
    kind: 'seam',
    seam: createSeamReader({ summary, anchor, kind, readToEnd, endMarker: metadata.end_marker }),
    census: createReplyCensus({ anchor, endMarker: metadata.end_marker, summary }),
    anchor,
    answer: takesDone ? answerReader(step, null) : null,
    again: isReply && !isRecovery && !prefilled ? againReader(step) : null,
    expecting,
    prefilled,
    hopeless: null,
  };
}

/** Holds undecided text, so that it survives a crash, and reads it as everything that it may be. */
export function readUndecided(step: Step, before: SeamReading, text: string): void {
  step.emit({ type: 'hold', text });
  const census = readReplyCensus(before.census, text);
  const answer = mayAnswer(before) ? readAnswer(before.answer, text) : before.answer;
  const again = before.again === null ? null : readAgain(before.again, text);
  const reading = { ...before, census, answer, again };
  if (reading.hopeless !== null) {
    readOn(step, reading);
    return;
  }
  const { reader, verdict } = readSeam(reading.seam, text);
  const next: SeamReading = { ...reading, seam: reader };
  if (verdict === null) {
    step.update({ reading: next });
  } else if (verdict.kind === 'verified') {
    join(step, next, verdict);
  } else if (verdict.kind === 'hopeless') {
    step.trace('seam_hopeless', { reason: verdict.reason });
    readOn(step, { ...next, hopeless: verdict.reason });
  } else {
    throw new Error(`a seam cannot be ${verdict.kind} before the message ends`);
  }
}

/** Reads on after a reply has failed to join, if it may still be something else. */
function readOn(step: Step, reading: SeamReading): void {
  // The reply to an open question may still continue the file instead of answering it (R270).
  const question = openQuestionOf(step.session.control);
  const readToEnd = question === null && mayBeRest(reading.expecting, step.session.settings);
  const mayStartOver = reading.again !== null && reading.again.verdict !== 'other';
  if (readToEnd || mayAnswer(reading) || mayStartOver) {
    step.update({ reading });
    return;
  }
  step.update({ reading: NOT_READING });
  step.emit({ type: 'stop_message' }, { type: 'discard_held' });
  step.dispatch({
    type: 'seam_hopeless',
    ...(question === null ? askAgain(reading) : { remedy: 'ask_question' }),
  });
}

/** Whether a reply that does not join may still be used once all of it is known. */
function mayBeRest({ isReply, asks }: Continuation, { seam }: SessionSettings): boolean {
  return isReply || asks === MAX_ASKS || seam === 'accept';
}

function mayAnswer(reading: SeamReading): reading is SeamReading & { answer: AnswerReader } {
  return reading.answer !== null && canStillBeAnswer(reading.answer);
}

type VerifiedSeam = Extract<SeamVerdict, { kind: 'verified' }>;

/** The reply continues exactly where the saved text ends: from here on it is content. */
function join(step: Step, reading: SeamReading, verdict: VerifiedSeam): void {
  const { line, via, lines_dropped } = step.addSeam({
    status: 'verified',
    via: reading.expecting.isRecovery ? 'recovery' : reading.prefilled ? 'prefill' : verdict.via,
    lines_dropped: verdict.linesDropped,
    text_set_aside: verdict.setAside.length,
    conversion: verdict.conversion,
  });
  step.emit({ type: 'discard_held' });
  let closed = openQuestionOf(step.session.control);
  if (closed?.kind === 'near_miss' && closed.heldBack) {
    // The text that the question is about is replaced by this reply, which answers it.
    step.emit({ type: 'set_aside', text: closed.text });
    closed = null;
  }
  step.setAside(verdict.setAside);
  step.trace('seam_verified', { line, via, lines_dropped });
  step.dispatch({ type: 'seam_verified' });
  const { wrappingFence, conversion, rest } = verdict;
  readDirect(step, directReading(step, { wrappingFence, conversion, closed }), rest);
}

export function endUndecided(step: Step, reading: SeamReading, end: MessageEnd): void {
  step.update({ reading: NOT_READING });
  const verdict = reading.hopeless === null ? endSeam(reading.seam) : null;
  if (verdict?.kind === 'verified') {
    join(step, reading, verdict);
    const next = step.session.reading;
    if (next.kind === 'direct') endDirect(step, next, end);
    return;
  }
  if (verdict?.kind === 'hopeless') step.trace('seam_hopeless', { reason: verdict.reason });
  const isMarker = verdict?.kind === 'marker_only';
  if (verdict !== null && end.kind !== 'stop' && (isMarker || !isAgain(reading, end))) {
    // Cut off before it could join, which does not show what the model meant to send.
    step.emit({ type: 'discard_held' });
    cutOff(step, end, { afterDone: isMarker });
    return;
  }
  if (isAgain(reading, end)) {
    startOverWithHeld(step, end);
    return;
  }
  const said = end.kind === 'stop' && reading.answer !== null ? endAnswer(reading.answer) : null;
  if (said?.kind === 'answer' && !said.isLowerCase) endWithDone(step, reading, said.talk);
  else endUnjoined(step, reading, end);
}

function isAgain({ again }: SeamReading, end: MessageEnd): boolean {
  return end.kind !== 'error' && again !== null && endAgain(again) === 'again';
}

/** The model says that the file is complete. */
function endWithDone(step: Step, reading: SeamReading, talk: string): void {
  step.emit({ type: 'discard_held' });
  step.setAside(talk);
  const { summary, unaskedEnds } = step.session;
  const { isReply, isRecovery } = reading.expecting;
  const toldOfCutOff = !isReply || isRecovery;
  if (!toldOfCutOff || isBlankText(summary.openLine)) {
    step.update({ endedByDone: true });
    step.dispatch({ type: 'message_end_terminal' });
    return;
  }
  // It may mean its message, whose last line is unfinished: the model is asked first (R274).
  step.dispatch(endingEvent(step, unaskedEnds));
}

/** The whole reply is known, and it does not join. */
function endUnjoined(step: Step, reading: SeamReading, end: MessageEnd): void {
  const facts = endReplyCensus(reading.census);
  if (facts.nonBlankLines === 0) {
    step.emit({ type: 'discard_held' });
    endWithoutText(step, end);
    return;
  }
  if (openQuestionOf(step.session.control) !== null) {
    step.emit({ type: 'discard_held' });
    step.dispatch({ type: 'seam_hopeless', remedy: 'ask_question' });
    return;
  }
  // `done`, which may be the last line of a script, or a few lines without the anchor are more likely a remark than the
  // rest of the file, so the model is asked.
  const saidDone = reading.answer !== null && endAnswer(reading.answer).kind === 'answer';
  if (
    (reading.expecting.isReply || saidDone) &&
    end.kind === 'stop' &&
    facts.nonBlankLines <= FEW_LINES &&
    facts.text !== null
  ) {
    const question: SessionQuestion = {
      kind: 'near_miss',
      text: facts.text,
      contentEnd: step.session.summary.bytes,
      heldBack: true,
    };
    step.dispatch({ type: 'message_end_question', question });
    return;
  }
  if (end.kind === 'error' && !end.retryable) {
    step.emit({ type: 'set_aside_held' });
    cutOff(step, end);
    return;
  }
  const remedy = decideRemedy(step, reading, facts, end);
  if (remedy.remedy === 'ask_again') step.emit({ type: 'discard_held' });
  if (remedy.remedy === 'pause') step.emit({ type: 'set_aside_held' });
  step.dispatch({ type: 'seam_hopeless', ...remedy });
}

/** What to do about a reply that does not join (R047, rule 9). */
function decideRemedy(
  step: Step,
  reading: SeamReading,
  facts: ReplyFacts,
  end: MessageEnd,
): SeamRemedy {
  const { settings, summary } = step.session;
  const { isReply, isRecovery, asks } = reading.expecting;
  const unasked = isReply || settings.seam === 'accept';
  if (
    settings.seam !== 'strict' &&
    unasked &&
    facts.clean &&
    facts.nonBlankLines > FEW_LINES &&
    summary.openLineLength === 0
  ) {
    return { remedy: 'accept', via: isRecovery ? 'recovery' : 'tail', end };
  }
  if (asks < MAX_ASKS) return askAgain(reading);
  const { headLines } = facts;
  return headLines.length > 0
    ? { remedy: 'ask_bridge', expecting: { kind: 'bridge', headLines, end } }
    : { remedy: 'pause' };
}

function askAgain({ expecting }: SeamReading): SeamRemedy {
  const asks = expecting.asks + 1;
  return { remedy: 'ask_again', expecting: { ...expecting, isReply: false, asks } };
}

/** The held reply is accepted as content, though only its place suggests it. */
export function acceptHeld(
  step: Step,
  { via, end }: Extract<ControlEffect, { readonly type: 'accept_unverified' }>,
): void {
  step.addSeam({ status: 'unverified', via });
  replayHeld(step, end);
}

import type { Seam, SessionQuestion } from '@orion/contracts';

import type { SeamRemedy } from './control.ts';
import type { MessageEnd, Reading } from './session.ts';
import type { Step } from './step.ts';
import { isBlank, isRecovery } from './step.ts';
import { chooseAnchor } from './text/anchor.ts';
import { canStillBeAnswer, readAnswer } from './text/answers.ts';
import { createBridgeReader, endBridge, readBridge } from './text/bridge.ts';
import type { FenceLine } from './text/lines.ts';
import {
  convertLineEndings,
  createConverter,
  endConversion,
} from './text/line-ending-converter.ts';
import type { LineEndingConversion } from './text/line-ending-converter.ts';
import { fencesAtEnd } from './text/fence-decision.ts';
import { createMarkerReader, endMarkers, holdsMarker, readMarkers } from './text/marker-reader.ts';
import { createReplyCensus, endReplyCensus, readReplyCensus } from './text/reply-census.ts';
import type { ReplyFacts } from './text/reply-census.ts';
import { createSeamReader, endSeam, readSeam } from './text/seam-reader.ts';
import type { SeamVerdict } from './text/seam-reader.ts';

/** A reply that does not join is asked again so often before a bridge is tried. */
const MAX_ASKS = 2;
/** A reply with at most this many lines that are not blank is too little to be the rest of a file. */
const FEW_LINES = 3;
/** A reply brings something when it brings this many bytes or a line. */
const PROGRESS_BYTES = 256;

/** A message begins: decides how it is read from what it is a reply to and what is saved. */
export function startMessage(step: Step): void {
  const { control, expecting, summary, settings, kind, metadata } = step.session;
  if (step.session.idleTimerRuns) {
    step.update({ idleTimerRuns: false });
    step.emit({ type: 'cancel_timer', timer: 'idle' });
  }
  switch (control.kind) {
    case 'awaiting_answer':
      step.update({ reading: control.asked ? { kind: 'answer', held: '' } : { kind: 'none' } });
      return;
    case 'awaiting_content':
    case 'awaiting_more':
      break;
    default:
      step.update({ reading: { kind: 'none' } });
      return;
  }
  if (expecting.kind === 'bridge') {
    step.update({
      reading: {
        kind: 'bridge',
        bridge: createBridgeReader({
          kind,
          endMarker: metadata.end_marker,
          summary,
          anchor: chooseAnchor(summary),
          headLines: expecting.headLines,
        }),
      },
    });
    return;
  }
  // Text of an earlier reply that did not join is of no use once the model writes again.
  if (!summary.hasNonBlankLine) {
    step.update({ reading: directReading(step, null, 'none') });
    return;
  }
  const asks = expecting.kind === 'continuation' ? expecting.asks : 0;
  const reply = expecting.kind === 'reply';
  const anchor = chooseAnchor(summary);
  const readToEnd = reply || asks === MAX_ASKS || settings.seam === 'accept';
  step.update({
    reading: {
      kind: 'seam',
      seam: createSeamReader({ summary, anchor, kind, readToEnd, endMarker: metadata.end_marker }),
      census: createReplyCensus({ anchor, endMarker: metadata.end_marker, summary }),
      anchor,
      asks,
      reply,
      recovery: isRecovery(expecting),
      hopeless: null,
    },
  });
}

function directReading(
  step: Step,
  wrappingFence: FenceLine | null,
  conversion: LineEndingConversion,
  replayed: MessageEnd | null = null,
): Reading {
  const { metadata, settings, summary, leadingBlanks } = step.session;
  // Blanks before the first content are not in the summary yet, but they will stand before this text.
  const contentBytes = summary.bytes + leadingBlanks.length;
  const contentLines = summary.lineFeeds + leadingBlanks.split('\n').length - 1;
  return {
    kind: 'direct',
    marker: createMarkerReader({
      endMarker: metadata.end_marker,
      strict: settings.strict,
      doneMode: settings.doneMode,
      atLineStart:
        leadingBlanks === '' ? summary.openLineLength === 0 : leadingBlanks.endsWith('\n'),
      contentBytes,
      contentLines,
      wrappingFence,
    }),
    converter: createConverter(conversion, summary.openLine.endsWith('\r')),
    startBytes: summary.bytes,
    startLines: summary.lineFeeds,
    replayed,
  };
}

export function readText(step: Step, text: string): void {
  if (text === '') return;
  const { control, reading } = step.session;
  switch (control.kind) {
    case 'awaiting_answer':
      if (!control.asked || reading.kind !== 'answer') step.emit({ type: 'chat', text });
      else readAnswerText(step, reading.held + text);
      return;
    case 'awaiting_content':
    case 'awaiting_more':
      break;
    default:
      step.emit({ type: 'chat', text });
      return;
  }
  switch (reading.kind) {
    case 'direct':
      readDirect(step, reading, text);
      return;
    case 'seam':
      readUndecided(step, reading, text);
      return;
    case 'bridge':
      step.update({ reading: { kind: 'bridge', bridge: readBridge(reading.bridge, text) } });
      return;
    case 'answer':
    case 'none':
      step.emit({ type: 'chat', text });
      return;
    default:
      reading satisfies never;
  }
}

type DirectReading = Extract<Reading, { kind: 'direct' }>;
type SeamReading = Extract<Reading, { kind: 'seam' }>;

function readDirect(step: Step, reading: DirectReading, text: string): void {
  const converted = convertLineEndings(reading.converter, text);
  readConverted(step, { ...reading, converter: converted.state }, converted.text);
}

function readConverted(step: Step, reading: DirectReading, text: string): void {
  const { reader, content, ended } = readMarkers(reading.marker, text);
  step.update({ reading: { ...reading, marker: reader } });
  if (!step.append(content)) return;
  if (ended !== null) {
    endDirect(step, { ...reading, marker: reader }, { kind: 'stop' }, 'end_marker');
    if (ended.rest !== '') readText(step, ended.rest);
    return;
  }
  if (!step.session.settings.signalsMessageEnd) watchSettling(step, reader, text);
}

/** Without an orderly end a terminal marker counts once nothing has followed it for a while. */
function watchSettling(step: Step, marker: DirectReading['marker'], text: string): void {
  const { settleTimerRuns, settings } = step.session;
  if (holdsMarker(marker)) {
    if (settleTimerRuns) return;
    step.update({ settleTimerRuns: true });
    step.emit({ type: 'start_timer', timer: 'settle', milliseconds: settings.doneSettleMs });
  } else if (settleTimerRuns && !isBlank(text)) {
    step.update({ settleTimerRuns: false });
    step.emit({ type: 'cancel_timer', timer: 'settle' });
  }
}

export function settleElapsed(step: Step): void {
  const { reading } = step.session;
  step.update({ settleTimerRuns: false });
  if (reading.kind !== 'direct' || !holdsMarker(reading.marker)) return;
  step.emit({ type: 'stop_message' });
  endDirect(step, reading, { kind: 'stop' }, 'message');
}

/** Undecided text is held for a crash, and read for what it may become. */
function readUndecided(step: Step, reading: SeamReading, text: string): void {
  step.emit({ type: 'hold', text });
  const census = readReplyCensus(reading.census, text);
  if (reading.hopeless !== null) {
    step.update({ reading: { ...reading, census } });
    return;
  }
  const { reader, verdict } = readSeam(reading.seam, text);
  const next: SeamReading = { ...reading, census, seam: reader };
  if (verdict === null) {
    step.update({ reading: next });
    return;
  }
  decideSeam(step, next, verdict);
}

function decideSeam(step: Step, reading: SeamReading, verdict: SeamVerdict): void {
  switch (verdict.kind) {
    case 'verified':
      join(step, reading, verdict);
      return;
    case 'hopeless': {
      step.emit({ type: 'trace', event: 'seam_hopeless', details: { reason: verdict.reason } });
      const readToEnd =
        reading.reply || reading.asks === MAX_ASKS || step.session.settings.seam === 'accept';
      if (readToEnd) {
        step.update({ reading: { ...reading, hopeless: verdict.reason } });
        return;
      }
      step.update({ reading: { kind: 'none' } });
      step.emit({ type: 'stop_message' }, { type: 'discard_held' });
      step.dispatch({ type: 'seam_hopeless', remedy: 'ask_again' });
      return;
    }
    case 'marker_only':
    case 'blank':
      throw new Error(`a seam cannot be ${verdict.kind} before the message ends`);
    default:
      verdict satisfies never;
  }
}

type VerifiedSeam = Extract<SeamVerdict, { kind: 'verified' }>;

/** The reply goes on exactly behind the saved text: from here on it is content. */
function join(step: Step, reading: SeamReading, verdict: VerifiedSeam): void {
  const seam: Seam = {
    line: step.session.summary.lineFeeds + 1,
    status: 'verified',
    via: reading.recovery ? 'recovery' : verdict.via,
    lines_dropped: verdict.linesDropped,
    text_set_aside: verdict.setAside.length,
    conversion: verdict.conversion,
  };
  step.update({ seams: [...step.session.seams, seam] });
  step.emit({ type: 'discard_held' });
  if (!isBlank(verdict.setAside)) step.emit({ type: 'set_aside', text: verdict.setAside });
  step.emit({
    type: 'trace',
    event: 'seam_verified',
    details: { line: seam.line, via: seam.via, lines_dropped: seam.lines_dropped },
  });
  step.dispatch({ type: 'seam_verified' });
  const direct = directReading(step, verdict.wrappingFence, verdict.conversion);
  step.update({ reading: direct });
  if (direct.kind === 'direct' && verdict.rest !== '') readDirect(step, direct, verdict.rest);
}

export function endMessage(step: Step, end: MessageEnd): void {
  const { control, reading } = step.session;
  if (step.session.settleTimerRuns) {
    step.update({ settleTimerRuns: false });
    step.emit({ type: 'cancel_timer', timer: 'settle' });
  }
  switch (control.kind) {
    case 'awaiting_answer':
      endAnswer(step, end);
      return;
    case 'awaiting_content':
    case 'awaiting_more':
      break;
    default:
      return;
  }
  switch (reading.kind) {
    case 'direct':
      endDirect(step, reading, end, 'message');
      return;
    case 'seam':
      endUndecided(step, reading, end);
      return;
    case 'bridge':
      endBridgeReply(step, end);
      return;
    case 'none':
    case 'answer':
      endWithoutText(step, end);
      return;
    default:
      reading satisfies never;
  }
}

/** A message of which nothing arrived. */
function endWithoutText(step: Step, end: MessageEnd): void {
  step.update({ reading: { kind: 'none' } });
  if (end.kind === 'stop') step.dispatch({ type: 'message_end_open' });
  else cutOff(step, end, false, false);
}

/** The message ended before the model had finished it. */
function cutOff(
  step: Step,
  end: Exclude<MessageEnd, { kind: 'stop' }>,
  progress: boolean,
  afterDone: boolean,
): void {
  if (end.kind === 'length') {
    step.dispatch({ type: 'message_end_length', progress });
    return;
  }
  step.update({ message: end.message });
  step.dispatch({
    type: 'stream_error',
    code: end.code,
    retryable: end.retryable,
    afterDone,
    progress,
  });
}

function endDirect(
  step: Step,
  reading: DirectReading,
  end: MessageEnd,
  by: 'message' | 'end_marker',
): void {
  let last = reading;
  const held = endConversion(reading.converter);
  if (held !== '') {
    const { reader, content } = readMarkers(reading.marker, held);
    last = { ...reading, marker: reader };
    if (!step.append(content)) return;
  }
  const { settings, kind } = step.session;
  const afterDone = holdsMarker(last.marker);
  const { content, ending } = endMarkers(
    last.marker,
    end.kind === 'stop',
    fencesAtEnd(step.session.summary, kind, settings.stripFence),
  );
  step.update({ reading: { kind: 'none' } });
  if (!step.append(content)) return;
  addInnerDoneLines(step, ending.innerDoneLines);
  if (!isBlank(ending.setAside)) step.emit({ type: 'set_aside', text: ending.setAside });
  if (end.kind !== 'stop') {
    cutOff(step, end, bringsSomething(step, reading), afterDone);
    return;
  }
  switch (ending.kind) {
    case 'terminal':
      if (step.session.control.kind === 'awaiting_content') step.update({ leadingBlanks: '' });
      step.emit({ type: 'trace', event: 'done_detected', details: { marker: ending.marker } });
      step.dispatch({ type: by === 'end_marker' ? 'end_marker' : 'message_end_terminal' });
      return;
    case 'ambiguous':
      step.dispatch({
        type: 'message_end_question',
        question: { kind: 'end', candidates: ending.candidates },
      });
      return;
    case 'near_miss':
      step.dispatch({
        type: 'message_end_question',
        question: {
          kind: 'near_miss',
          text: ending.text,
          contentEnd: ending.contentEnd,
          heldBack: false,
        },
      });
      return;
    case 'none':
      step.dispatch({ type: 'message_end_open' });
      return;
    default:
      ending satisfies never;
  }
}

function bringsSomething(step: Step, reading: DirectReading): boolean {
  const { summary } = step.session;
  return (
    summary.bytes - reading.startBytes >= PROGRESS_BYTES || summary.lineFeeds > reading.startLines
  );
}

function addInnerDoneLines(step: Step, lines: readonly number[]): void {
  if (lines.length === 0) return;
  const all = new Set([...step.session.innerDoneLines, ...lines]);
  step.update({ innerDoneLines: [...all].sort((left, right) => left - right) });
}

function endUndecided(step: Step, reading: SeamReading, end: MessageEnd): void {
  if (reading.hopeless === null) {
    const verdict = endSeam(reading.seam);
    switch (verdict.kind) {
      case 'verified': {
        join(step, reading, verdict);
        const next = step.session.reading;
        if (next.kind === 'direct') endDirect(step, next, end, 'message');
        return;
      }
      case 'marker_only':
        step.update({ reading: { kind: 'none' } });
        step.emit({ type: 'discard_held' });
        if (end.kind === 'stop') step.dispatch({ type: 'message_end_terminal' });
        else cutOff(step, end, false, true);
        return;
      case 'blank':
        step.emit({ type: 'discard_held' });
        endWithoutText(step, end);
        return;
      case 'hopeless':
        step.emit({ type: 'trace', event: 'seam_hopeless', details: { reason: verdict.reason } });
        if (end.kind !== 'stop') {
          // Cut off before it could join: that says nothing about what the model meant to send.
          step.update({ reading: { kind: 'none' } });
          step.emit({ type: 'discard_held' });
          cutOff(step, end, false, false);
          return;
        }
        break;
      default:
        verdict satisfies never;
    }
  }
  endUnjoined(step, reading, end);
}

/** The whole reply is known, and it does not join. */
function endUnjoined(step: Step, reading: SeamReading, end: MessageEnd): void {
  step.update({ reading: { kind: 'none' } });
  const facts = endReplyCensus(reading.census);
  if (facts.nonBlankLines === 0) {
    step.emit({ type: 'discard_held' });
    endWithoutText(step, end);
    return;
  }
  if (
    reading.reply &&
    end.kind === 'stop' &&
    facts.nonBlankLines <= FEW_LINES &&
    facts.text !== null
  ) {
    // Few lines without the anchor: more likely a remark than the rest of the file, so the model is asked.
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
    cutOff(step, end, false, false);
    return;
  }
  const remedy = decideRemedy(step, reading, facts);
  applyRemedy(step, reading, facts, remedy, end);
}

/** What becomes of a reply that does not join (requirement R047, rule 9). */
function decideRemedy(step: Step, reading: SeamReading, facts: ReplyFacts): SeamRemedy {
  const { settings, summary } = step.session;
  const unasked = reading.reply || settings.seam === 'accept';
  if (
    settings.seam !== 'strict' &&
    unasked &&
    facts.clean &&
    facts.nonBlankLines > FEW_LINES &&
    summary.openLineLength === 0
  ) {
    return 'accept';
  }
  if (reading.asks < MAX_ASKS) return 'ask_again';
  return facts.headLines.length > 0 ? 'ask_bridge' : 'pause';
}

function applyRemedy(
  step: Step,
  reading: SeamReading,
  facts: ReplyFacts,
  remedy: SeamRemedy,
  end: MessageEnd,
): void {
  const { recovery } = reading;
  switch (remedy) {
    case 'ask_again':
      step.emit({ type: 'discard_held' });
      break;
    case 'ask_bridge':
      step.update({
        expecting: { kind: 'bridge', headLines: facts.headLines, end, recovery },
      });
      break;
    case 'accept':
      addSeam(step, 'unverified', recovery ? 'recovery' : 'tail');
      step.update({ reading: directReading(step, null, 'none', end) });
      break;
    case 'pause':
      step.emit({ type: 'set_aside_held' });
      break;
    default:
      remedy satisfies never;
  }
  step.dispatch({ type: 'seam_hopeless', remedy });
}

function addSeam(step: Step, status: Seam['status'], via: Seam['via'], linesDropped = 0): void {
  const seam: Seam = {
    line: step.session.summary.lineFeeds + 1,
    status,
    via,
    lines_dropped: linesDropped,
    text_set_aside: 0,
    conversion: 'none',
  };
  step.update({ seams: [...step.session.seams, seam] });
}

function endBridgeReply(step: Step, end: MessageEnd): void {
  const { reading, expecting } = step.session;
  if (reading.kind !== 'bridge' || expecting.kind !== 'bridge') return;
  step.update({ reading: { kind: 'none' } });
  const joined = end.kind === 'error' ? null : endBridge(reading.bridge);
  if (joined === null || joined.kind === 'failed') {
    step.emit(
      {
        type: 'trace',
        event: 'bridge_failed',
        details: { reason: joined?.reason ?? 'stream_error' },
      },
      { type: 'set_aside_held' },
    );
    step.dispatch({ type: 'seam_hopeless', remedy: 'pause' });
    return;
  }
  addSeam(step, 'verified', 'bridge', joined.linesDropped);
  step.dispatch({ type: 'seam_verified' });
  if (!step.append(joined.content)) return;
  step.update({ reading: directReading(step, null, 'none', expecting.end) });
  step.emit({ type: 'replay_held' });
}

/** The held text is content after all: it is read like a message that arrives now. */
export function readHeldText(step: Step, text: string): void {
  const { reading } = step.session;
  if (reading.kind === 'direct') readDirect(step, reading, text);
}

export function endHeldText(step: Step): void {
  const { reading } = step.session;
  step.emit({ type: 'discard_held' });
  if (reading.kind === 'direct' && reading.replayed !== null) {
    endDirect(step, reading, reading.replayed, 'message');
  }
}

function readAnswerText(step: Step, held: string): void {
  const { control, metadata } = step.session;
  if (control.kind !== 'awaiting_answer') return;
  if (
    control.question.kind !== 'fence' &&
    !canStillBeAnswer(control.question, held, metadata.end_marker)
  ) {
    answerIsText(step, held);
    return;
  }
  step.update({ reading: { kind: 'answer', held } });
  step.dispatch({ type: 'text' });
}

/** The reply is no answer but goes on with the file: it enters the seam reader as the start of a message. */
function answerIsText(step: Step, held: string): void {
  const { control } = step.session;
  if (control.kind === 'awaiting_answer' && control.question.kind === 'near_miss') {
    if (control.question.heldBack) step.emit({ type: 'set_aside_held' });
  }
  step.dispatch({ type: 'answer', answer: 'text' });
  step.update({ expecting: { kind: 'reply', recovery: false } });
  startMessage(step);
  readText(step, held);
}

function endAnswer(step: Step, end: MessageEnd): void {
  const { control, metadata, reading } = step.session;
  if (control.kind !== 'awaiting_answer') return;
  step.update({ reading: { kind: 'none' } });
  if (!control.asked) {
    step.dispatch({ type: 'message_end_open' });
    return;
  }
  if (end.kind === 'error') {
    cutOff(step, end, false, false);
    return;
  }
  const { question } = control;
  const held = reading.kind === 'answer' ? reading.held : '';
  step.dispatch({ type: 'message_end_open' });
  const answer = readAnswer(question, held, metadata.end_marker);
  switch (answer.kind) {
    case 'text':
      answerIsText(step, held);
      endMessage(step, end);
      return;
    case 'end':
      applyAnswer(step, question, { kind: 'end', line: answer.candidate.line });
      return;
    case 'done':
    case 'keep':
    case 'strip':
      applyAnswer(step, question, { kind: answer.kind });
      return;
    case 'unusable':
      step.dispatch({ type: 'answer', answer: 'unusable' });
      return;
    default:
      answer satisfies never;
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
        addInnerDoneLines(step, inner);
        step.endContentAt(candidate.contentEnd, true);
        return true;
      }
      if (answer.kind !== 'done') return false;
      addInnerDoneLines(
        step,
        question.candidates.map((candidate) => candidate.line),
      );
      return true;
    case 'near_miss':
      if (answer.kind === 'keep') {
        if (question.heldBack) {
          step.emit({ type: 'discard_held' });
          step.append(question.text);
        }
        return true;
      }
      if (answer.kind !== 'done') return false;
      if (question.heldBack) step.emit({ type: 'set_aside_held' });
      else step.endContentAt(question.contentEnd, false);
      return true;
    case 'fence':
      if (answer.kind === 'strip') {
        step.stripFence(question.contentStart, question.contentEnd);
        return true;
      }
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

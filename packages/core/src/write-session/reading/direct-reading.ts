import { isBlankText } from '@orion/contracts';
import type { ControlEvent, MessageEnd } from '../control.ts';
import { isWholeFile, NOT_READING } from '../session.ts';
import type { ReadingOf } from '../session.ts';
import type { Step } from '../step.ts';
import { fencesAtEnd } from '../text/fence-decision.ts';
import { beginningOfMarker, restartSummary, wholeFenceLedger } from '../text/content-summary.ts';
import { closesFence } from '../text/lines.ts';
import type { FenceLine } from '../text/lines.ts';
import { isMarkdownFence } from '../text/seams/seam-continuation.ts';
import {
  convertLineEndings,
  createConverter,
  endConversion,
} from '../text/line-ending-converter.ts';
import type { LineEndingConversion } from '../text/line-ending-converter.ts';
import { endingEvent } from './cut-off.ts';
import { mergedEnds } from '../text/markers/inner-done.ts';
import {
  createMarkerReader,
  endMarkers,
  holdsMarker,
  innerDoneOf,
  readMarkers,
} from '../text/markers/marker-reader.ts';
import type { MarkerReader, MessageEnding } from '../text/markers/marker-reader.ts';
import { createThinkReader, endThink, readThink } from '../text/think-block.ts';
import type { ThinkReader } from '../text/think-block.ts';
import { cutOff } from './cut-off.ts';

/** A reply brings something when it brings this many bytes or a line. */
const PROGRESS_BYTES = 256;

export type DirectReading = ReadingOf<'direct'>;

export function directReading(
  step: Step,
  {
    wrappingFence = null,
    conversion = 'none',
    closed = null,
    replayed = null,
  }: Partial<Pick<DirectReading, 'closed' | 'replayed'>> & {
    readonly wrappingFence?: FenceLine | null;
    readonly conversion?: LineEndingConversion;
  } = {},
): DirectReading {
  const { metadata, settings, summary, leadingBlanks, thinkTags } = step.session;
  return {
    kind: 'direct',
    marker: createMarkerReader({
      openLine: beginningOfMarker(summary),
      endMarker: metadata.end_marker,
      strict: settings.strict,
      doneMode: settings.doneMode,
      wrappingFence,
      // A marker that follows blanks only is a marker, whatever the blanks end with.
      atLineStart: leadingBlanks !== '' || summary.openLineLength === 0,
      // Blank lines before the first line of a file come from chat templates (R272).
      dropBlankLines:
        isWholeFile(metadata) && metadata.keep_leading_blank_lines !== true && summary.bytes === 0,
      // Blanks before the first content are not in the summary yet, but they will stand before this text.
      contentBytes: summary.bytes + leadingBlanks.length,
      contentLines: summary.lineFeeds + leadingBlanks.split('\n').length - 1,
    }),
    converter: createConverter(conversion, summary.openLine.endsWith('\r')),
    thinking: thinkTags && summary.bytes === 0 ? createThinkReader() : null,
    isBehindThinking: false,
    startBytes: summary.bytes,
    startLines: summary.lineFeeds,
    closed,
    replayed,
    settleTimerRuns: false,
  };
}

/** The held text is read as a message that ended so. */
export function replayHeld(step: Step, end: MessageEnd): void {
  step.emit({ type: 'replay_held' });
  step.update({ reading: directReading(step, { replayed: end }) });
}

/** What was saved goes aside, and the held reply is read as a first message (R297). */
export function startOverWithHeld(step: Step, end: MessageEnd): void {
  step.update({ startedOver: true });
  step.dispatch({ type: 'document_again' });
  step.trace('document_again');
  replayHeld(step, end);
}

export function readDirect(step: Step, reading: DirectReading, text: string): void {
  if (reading.thinking !== null) {
    readThinking(step, reading, reading.thinking, text);
    return;
  }
  const converted = convertLineEndings(reading.converter, text);
  readConverted(
    step,
    { ...reading, converter: converted.state },
    { text: converted.text, came: text },
  );
}

/** `came`: the same text with the line endings that it came with. */
function readConverted(
  step: Step,
  reading: DirectReading,
  { text, came }: { readonly text: string; readonly came: string },
): void {
  const { reader, content, ended } = readMarkers(reading.marker, text);
  const next = beginFile(step, { ...reading, marker: reader }, content);
  step.update({ reading: next });
  if (!step.append(content)) return;
  if (ended !== null) {
    endDirect(step, next, { kind: 'stop' }, 'end_marker');
    // What follows the end marker is for the person, as it came.
    const count = ended.rest.split('\n').length;
    const rest = came.split('\n').slice(-count).join('\n');
    if (rest !== '') step.emit({ type: 'chat', text: rest });
    return;
  }
  if (!step.session.settings.signalsMessageEnd) watchSettling(step, next, text);
}

/** The message may open with a think block: it is saved as it comes, and the file begins behind it (R275). */
function readThinking(step: Step, reading: DirectReading, before: ThinkReader, text: string): void {
  if (!step.session.thinkTags) {
    const { block, text: held } = endThink(before);
    step.update({ thinking: 'none' });
    readWithoutThinking(step, reading, block + held + text);
    return;
  }
  const { reader, block, text: behind } = readThink(before, text);
  if (reader.phase === 'none') {
    readWithoutThinking(step, reading, behind);
    return;
  }
  if (block !== '' && step.session.thinking === 'none') {
    // That is what it is unless text follows its end.
    step.update({ thinking: 'kept' });
    saveWithText(step);
  }
  // A model that thinks about its end marker does not end anything.
  const marker = withMarker(reading.marker, '');
  readConverted(step, { ...reading, marker, thinking: reader }, { text: block, came: block });
  const { reading: read } = step.session;
  if (reader.phase !== 'behind' || read.kind !== 'direct') return;
  const { summary, metadata } = step.session;
  const fresh = createMarkerReader({
    ...marker.options,
    endMarker: metadata.end_marker,
    atLineStart: true,
    dropBlankLines: false,
    contentBytes: summary.bytes,
    contentLines: summary.lineFeeds,
  });
  readDirect(step, { ...read, marker: fresh, thinking: null, isBehindThinking: true }, behind);
}

function readWithoutThinking(step: Step, reading: DirectReading, text: string): void {
  const marker = withMarker(reading.marker, step.session.metadata.end_marker);
  readDirect(step, { ...reading, marker, thinking: null }, text);
}

function withMarker(reader: MarkerReader, endMarker: string): MarkerReader {
  return { ...reader, options: { ...reader.options, endMarker } };
}

/** Before content is appended: notes where the file begins, once it has a line. */
function beginFile(step: Step, reading: DirectReading, content: string): DirectReading {
  if (content === '') return reading;
  const { summary } = step.session;
  const { blankLinesDropped } = reading.marker;
  // Those of a message that brings no line are nothing.
  if (summary.bytes === 0 && blankLinesDropped > 0) {
    step.update({ blankLinesDropped });
    saveWithText(step);
  }
  if (!reading.isBehindThinking) return reading;
  step.update({
    contentStart: summary.bytes,
    thinking: 'set_aside',
    blankLinesDropped: 0,
    summary: restartSummary(summary),
  });
  saveWithText(step);
  return { ...reading, isBehindThinking: false };
}

/** Where the file begins is known from the record alone: after a kill it must be there beside the text. */
function saveWithText(step: Step): void {
  step.update({ unsavedLines: step.session.settings.saveLines });
}

/** Without an orderly end a terminal marker counts once nothing has followed it for a while. */
function watchSettling(step: Step, reading: DirectReading, text: string): void {
  const { settleTimerRuns } = reading;
  if (holdsMarker(reading.marker)) {
    if (settleTimerRuns) return;
    step.update({ reading: { ...reading, settleTimerRuns: true } });
    const { doneSettleMs } = step.session.settings;
    step.emit({ type: 'start_timer', timer: 'settle', milliseconds: doneSettleMs });
  } else if (settleTimerRuns && !isBlankText(text)) {
    step.update({ reading: { ...reading, settleTimerRuns: false } });
    step.emit({ type: 'cancel_timer', timer: 'settle' });
  }
}

export function settleElapsed(step: Step): void {
  const { reading } = step.session;
  if (reading.kind !== 'direct') return;
  const settled: DirectReading = { ...reading, settleTimerRuns: false };
  step.update({ reading: settled });
  if (!holdsMarker(settled.marker)) return;
  step.emit({ type: 'stop_message' });
  endDirect(step, settled, { kind: 'stop' });
}

/** `by` the end marker: behind it the message goes on. */
export function endDirect(
  step: Step,
  before: DirectReading,
  end: MessageEnd,
  by: 'message' | 'end_marker' = 'message',
): void {
  if (before.settleTimerRuns) step.emit({ type: 'cancel_timer', timer: 'settle' });
  const reading = releaseHeld(step, before);
  if (reading === null) return;
  const { settings, kind, summary } = step.session;
  const isOrderly = end.kind === 'stop';
  const { content, ending, closesBeforeMarker } = endMarkers(reading.marker, isOrderly, {
    fences: fencesAtEnd(summary, kind, settings.stripFence),
    openLoops: summary.openLoops,
  });
  step.update({ reading: NOT_READING });
  const { chatEnds } = innerDoneOf(reading.marker);
  step.noteInnerDone({ lines: ending.innerDoneLines, chatEnds: isOrderly ? [] : chatEnds });
  beginFile(step, reading, content);
  if (!step.append(content)) return;
  const { wrappingFence } = reading.marker.options;
  if (isOrderly && ending.setAside === '') doubtWrapper(step, wrappingFence);
  const isWrapped = by === 'message' && ending.kind === 'terminal' && closesBeforeMarker;
  if (isWrapped && asksWrapper(step, wrappingFence, ending.setAside)) return;
  step.setAside(ending.setAside);
  if (isOrderly) {
    step.update({ cutOff: false });
    step.dispatch(eventOf(step, reading, ending, by));
  } else {
    const afterDone = holdsMarker(reading.marker);
    cutOff(step, end, { progress: bringsSomething(step, reading), afterDone });
  }
}

/** Reads what was held back of the message, which has ended; null: it was too much. */
function releaseHeld(step: Step, reading: DirectReading): DirectReading | null {
  const held = reading.thinking === null ? null : endThink(reading.thinking);
  const text = held === null ? '' : held.block + held.text;
  const { reader, content } = readMarkers(reading.marker, text + endConversion(reading.converter));
  const next = beginFile(step, { ...reading, marker: reader }, content);
  return step.append(content) ? next : null;
}

/** What the orderly end of a message means for the session. */
function eventOf(
  step: Step,
  reading: DirectReading,
  ending: MessageEnding,
  by: 'message' | 'end_marker',
): ControlEvent {
  const { summary, control, unaskedEnds } = step.session;
  const saysEnd = ending.kind === 'terminal' && ending.marker === 'end_marker';
  if (reading.closed !== null && summary.bytes === reading.startBytes && !saysEnd) {
    // What was asked about was only written once more.
    return { type: 'message_end_question', question: reading.closed };
  }
  switch (ending.kind) {
    case 'none':
      return { type: 'message_end_open' };
    case 'terminal':
      if (control.kind === 'awaiting_content') step.update({ leadingBlanks: '' });
      // The session's own marker ends the content, whatever stands before it.
      if (saysEnd || unaskedEnds.length === 0) step.settleEnds();
      step.trace('done_detected', { marker: ending.marker });
      return saysEnd
        ? { type: 'end_marker', messageOpen: by === 'end_marker' }
        : { type: 'message_end_terminal' };
    case 'ambiguous':
      return endingEvent(step, mergedEnds(ending.candidates, unaskedEnds), ending.nearMiss);
    case 'near_miss': {
      const { text, contentEnd } = ending;
      return endingEvent(step, unaskedEnds, { text, contentEnd });
    }
    default:
      return ending satisfies never;
  }
}

/**
 * A reply opened a fence around itself although its target is Markdown, and closed it before its end: the line closes
 * none of the content's own fences, but only the model knows whether it is meant to. Behind the DONE, where the content
 * has ended, that line is the reply's own.
 */
function asksWrapper(step: Step, wrappingFence: FenceLine | null, setAside: string): boolean {
  const { kind, contentStart, unaskedEnds, summary } = step.session;
  if (wrappingFence === null || kind !== 'markdown' || isMarkdownFence(wrappingFence)) return false;
  if (unaskedEnds.length > 0) return false;
  if (!step.append(setAside)) return true;
  const { character, length, info } = wrappingFence;
  step.update({ fenceAsked: true, cutOff: false });
  step.settleEnds();
  step.dispatch({
    type: 'message_end_question',
    question: {
      kind: 'fence',
      contentStart,
      contentEnd: summary.bytes,
      firstLine: character.repeat(length) + info,
      lastLine: setAside.trim(),
    },
  });
  return true;
}

/**
 * A reply opened a fence around itself, and no line was found that closes it; but the content now ends with a line
 * that would. In a document with fences of its own that line may be either's, so the join is not proven.
 */
function doubtWrapper(step: Step, wrappingFence: FenceLine | null): void {
  const { seams, summary, kind } = step.session;
  const last = seams.at(-1);
  if (wrappingFence === null || kind === 'code' || last === undefined) return;
  const lastFence = wholeFenceLedger(summary).lastLines.at(-1)?.fence ?? null;
  if (lastFence === null || !closesFence(wrappingFence, lastFence)) return;
  step.update({ seams: [...seams.slice(0, -1), { ...last, status: 'unverified' }] });
  step.trace('seam_doubted', { line: last.line });
}

function bringsSomething(step: Step, reading: DirectReading): boolean {
  const { summary } = step.session;
  return (
    summary.bytes - reading.startBytes >= PROGRESS_BYTES || summary.lineFeeds > reading.startLines
  );
}

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

/** A reply makes progress if it adds this many bytes, or a line. */
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
      // A marker after nothing but blanks is a marker, whatever the blanks end with.
      atLineStart: leadingBlanks !== '' || summary.openLineLength === 0,
      // Blank lines before the first line of a file come from chat templates (R272).
      dropBlankLines:
        isWholeFile(metadata) && metadata.keep_leading_blank_lines !== true && summary.bytes === 0,
      followsText: summary.hasNonBlankLine,
      // Blanks before the first content are not in the summary yet, but will precede this text.
      contentBytes: summary.bytes + leadingBlanks.length,
      contentLines: summary.lineFeeds + leadingBlanks.split('\n').length - 1,
    }),
    converter: createConverter(conversion, summary.openLine.endsWith('\r')),
    thinking: thinkTags && summary.bytes === 0 ? createThinkReader('file') : null,
    isBehindThinking: false,
    startBytes: summary.bytes,
    startLines: summary.lineFeeds,
    closed,
    replayed,
    settleTimerRuns: false,
  };
}

/** Reads the held text as a message that ended with `end`. */
export function replayHeld(step: Step, end: MessageEnd): void {
  step.emit({ type: 'replay_held' });
  step.update({ reading: directReading(step, { replayed: end }) });
}

/** Sets the saved text aside and reads the held reply as a first message (R297). */
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

/** `came`: the same text with its original line endings. */
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
    // Text after the end marker is for the person, with its original line endings.
    const count = ended.rest.split('\n').length;
    const rest = came.split('\n').slice(-count).join('\n');
    if (rest !== '') step.emit({ type: 'chat', text: rest });
    return;
  }
  if (!step.session.settings.signalsMessageEnd) watchSettling(step, next, text);
}

/** The message may open with a think block: it is saved as it arrives, and the file starts after it (R275). */
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
    // It is kept unless text follows its end.
    step.update({ thinking: 'kept' });
    saveWithText(step);
  }
  // An end marker in the model's reasoning ends nothing.
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

/** Called before content is appended: records where the file starts, once it has a line. */
function beginFile(step: Step, reading: DirectReading, content: string): DirectReading {
  if (content === '') return reading;
  const { summary } = step.session;
  const { blankLinesDropped } = reading.marker;
  // They do not count in a message without a line.
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

/** Only the record shows where the file starts, so it is saved together with the text. */
function saveWithText(step: Step): void {
  step.update({ unsavedLines: step.session.settings.saveLines });
}

/** If the adapter does not signal the end, a terminal marker counts once nothing has followed it for a while. */
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

/** `by`: after an end marker, the message may continue. */
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

/** Reads what was held back of the message, which has ended; null if it exceeds the size limit. */
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
    // The reply only repeated what the question is about.
    return { type: 'message_end_question', question: reading.closed };
  }
  switch (ending.kind) {
    case 'none':
      return { type: 'message_end_open' };
    case 'terminal':
      if (control.kind === 'awaiting_content') step.update({ leadingBlanks: '' });
      // The session's own marker ends the content, whatever precedes it.
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
 * A reply opened a fence around itself although its target is Markdown, and closed it before its end. The closing line
 * closes none of the content's fences, but only the model knows whether it belongs to the content. After the DONE, where
 * the content has ended, it does not.
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
 * A reply opened a fence around itself and no line was found that closes it, but the content now ends with a line that
 * would. In a document with fences of its own, the line may belong to either, so the join is not proven.
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

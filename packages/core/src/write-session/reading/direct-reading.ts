import type { MessageEnd, Reading, WriteSession } from '../session.ts';
import type { Step } from '../step.ts';
import { isBlank } from '../step.ts';
import { fencesAtEnd } from '../text/fence-decision.ts';
import { wholeFenceLedger } from '../text/content-summary.ts';
import { closesFence } from '../text/lines.ts';
import type { FenceLine } from '../text/lines.ts';
import {
  convertLineEndings,
  createConverter,
  endConversion,
} from '../text/line-ending-converter.ts';
import type { LineEndingConversion } from '../text/line-ending-converter.ts';
import { mergedEnds } from '../text/markers/inner-done.ts';
import {
  createMarkerReader,
  endMarkers,
  holdsMarker,
  innerDoneOf,
  readMarkers,
} from '../text/markers/marker-reader.ts';
import type { MarkerReader } from '../text/markers/marker-reader.ts';
import { cutOff } from './cut-off.ts';

/** A reply brings something when it brings this many bytes or a line. */
const PROGRESS_BYTES = 256;

export type DirectReading = Extract<Reading, { kind: 'direct' }>;

export function directReading(
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
      // A marker that follows blanks only is a marker, whatever the blanks end with.
      atLineStart: leadingBlanks !== '' || summary.openLineLength === 0,
      contentBytes,
      contentLines,
      wrappingFence,
      dropBlankLines: dropsBlankLines(step.session),
    }),
    converter: createConverter(conversion, summary.openLine.endsWith('\r')),
    startBytes: summary.bytes,
    startLines: summary.lineFeeds,
    wrappingFence,
    replayed,
  };
}

/** Blank lines before the first line of a file come from chat templates (R272). */
function dropsBlankLines({ metadata, summary }: WriteSession): boolean {
  const isFile = metadata.operation === 'create' || metadata.operation === 'overwrite';
  return isFile && metadata.keep_leading_blank_lines !== true && summary.bytes === 0;
}

export function readDirect(step: Step, reading: DirectReading, text: string): void {
  const converted = convertLineEndings(reading.converter, text);
  const { reader, content, ended } = readMarkers(reading.marker, converted.text);
  const next = { ...reading, converter: converted.state, marker: reader };
  step.update({ reading: next });
  noteBlankLines(step, reader, content);
  if (!step.append(content)) return;
  if (ended !== null) {
    endDirect(step, next, { kind: 'stop' }, 'end_marker');
    // What follows the end marker is for the person, as it came.
    const rest = lastLines(text, ended.rest.split('\n').length);
    if (rest !== '') step.emit({ type: 'chat', text: rest });
    return;
  }
  if (!step.session.settings.signalsMessageEnd) watchSettling(step, reader, text);
}

/** Those of a message that brings no line are nothing. */
function noteBlankLines(step: Step, { blankLinesDropped }: MarkerReader, content: string): void {
  if (content !== '' && step.session.summary.bytes === 0 && blankLinesDropped > 0)
    step.update({ blankLinesDropped });
}

/** The last so many lines, the open one among them. */
function lastLines(text: string, count: number): string {
  return text.split('\n').slice(-count).join('\n');
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

export function endDirect(
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
    noteBlankLines(step, reader, content);
    if (!step.append(content)) return;
  }
  const { settings, kind, summary } = step.session;
  const afterDone = holdsMarker(last.marker);
  const { chatEnds } = innerDoneOf(last.marker);
  const { content, ending } = endMarkers(last.marker, end.kind === 'stop', {
    fences: fencesAtEnd(summary, kind, settings.stripFence),
    hasLoop: summary.hasLoop,
  });
  step.update({ reading: { kind: 'none' } });
  const isOrderly = end.kind === 'stop';
  step.noteInnerDone({ lines: ending.innerDoneLines, chatEnds: isOrderly ? [] : chatEnds });
  noteBlankLines(step, last.marker, content);
  if (!step.append(content)) return;
  if (end.kind === 'stop' && ending.setAside === '') doubtWrapper(step, reading);
  if (!isBlank(ending.setAside)) step.emit({ type: 'set_aside', text: ending.setAside });
  if (end.kind !== 'stop') {
    cutOff(step, end, bringsSomething(step, reading), afterDone);
    return;
  }
  step.update({ cutOff: false });
  switch (ending.kind) {
    case 'terminal':
      if (step.session.control.kind === 'awaiting_content') step.update({ leadingBlanks: '' });
      // The session's own marker ends the content, whatever stands before it.
      if (ending.marker === 'end_marker' || step.session.unaskedEnds.length === 0)
        step.settleEnds();
      step.emit({ type: 'trace', event: 'done_detected', details: { marker: ending.marker } });
      step.dispatch({ type: by === 'end_marker' ? 'end_marker' : 'message_end_terminal' });
      return;
    case 'ambiguous': {
      const candidates = mergedEnds(ending.candidates, step.session.unaskedEnds);
      step.settleEnds();
      const { nearMiss } = ending;
      step.dispatch({
        type: 'message_end_question',
        question: { kind: 'end', candidates, ...(nearMiss === null ? {} : { nearMiss }) },
      });
      return;
    }
    case 'near_miss': {
      const { text, contentEnd } = ending;
      const candidates = step.session.unaskedEnds;
      // One question swallows no other: where the file ends comes before what it ends with.
      step.settleEnds();
      step.dispatch({
        type: 'message_end_question',
        question:
          candidates.length > 0
            ? { kind: 'end', candidates, nearMiss: { text, contentEnd } }
            : { kind: 'near_miss', text, contentEnd, heldBack: false },
      });
      return;
    }
    case 'none':
      step.dispatch({ type: 'message_end_open' });
      return;
    default:
      ending satisfies never;
  }
}

/**
 * A reply opened a fence around itself, and no line was found that closes it; but the content now ends with a line
 * that would. In a document with fences of its own that line may be either's, so the join is not proven.
 */
function doubtWrapper(step: Step, reading: DirectReading): void {
  const { seams, summary, kind } = step.session;
  const last = seams.at(-1);
  if (reading.wrappingFence === null || kind === 'code' || last === undefined) return;
  const lastFence = wholeFenceLedger(summary).lastLines.at(-1)?.fence ?? null;
  if (lastFence === null || !closesFence(reading.wrappingFence, lastFence)) return;
  step.update({ seams: [...seams.slice(0, -1), { ...last, status: 'unverified' }] });
  step.emit({ type: 'trace', event: 'seam_doubted', details: { line: last.line } });
}

function bringsSomething(step: Step, reading: DirectReading): boolean {
  const { summary } = step.session;
  return (
    summary.bytes - reading.startBytes >= PROGRESS_BYTES || summary.lineFeeds > reading.startLines
  );
}

import {
  appendToSummary,
  beginningOfMarker,
  createSummary,
  type ContentSummary,
} from '../content-summary.ts';
import { fencesAtEnd, type FencePolicy } from '../fence-decision.ts';
import {
  createMarkerReader,
  endMarkers,
  readMarkers,
  type MessageEnding,
} from '../markers/marker-reader.ts';
import type { MarkerReaderOptions } from '../markers/marker-rules.ts';
import type { TargetKind } from '../target-kind.ts';

export const END_MARKER = 'DONE 7f3a';

export type ReadOptions = Partial<
  Omit<MarkerReaderOptions, 'followsText' | 'contentBytes' | 'contentLines' | 'atLineStart'>
> & {
  /** What is saved before the message. */
  readonly before?: string;
  readonly kind?: TargetKind;
  readonly policy?: FencePolicy;
  readonly orderly?: boolean;
};

export type MessageResult = {
  /** What the message added. */
  readonly content: string;
  /** The part of it that was given before the message ended. */
  readonly released: string;
  readonly ending: MessageEnding;
  readonly blank: boolean;
  /** After the end marker. */
  readonly rest: string | null;
  readonly blankLinesDropped: number;
  /** Of everything saved. */
  readonly summary: ContentSummary;
};

let latest = { saved: '', summary: createSummary() };

/** Kept for the next call: a case asks several times for the summary of the same text. */
export function summaryOf(saved: string): ContentSummary {
  if (latest.saved !== saved) {
    latest = { saved, summary: appendToSummary(createSummary(), saved) };
  }
  return latest.summary;
}

/** Reads one message as a session does: each text appended, the end judged by what is saved then. */
export function readMessage(pieces: readonly string[], options: ReadOptions = {}): MessageResult {
  const { before = '', kind = 'code', policy = 'auto', orderly = true, ...rest } = options;
  let summary = summaryOf(before);
  let reader = createMarkerReader({
    endMarker: END_MARKER,
    strict: false,
    doneMode: 'terminal',
    wrappingFence: null,
    dropBlankLines: false,
    ...rest,
    atLineStart: summary.openLineLength === 0,
    openLine: beginningOfMarker(summary),
    followsText: summary.hasNonBlankLine,
    contentBytes: summary.bytes,
    contentLines: summary.lineFeeds,
  });
  let content = '';
  let chat: string | null = null;
  for (const piece of pieces) {
    const step = readMarkers(reader, piece);
    reader = step.reader;
    content += step.content;
    summary = appendToSummary(summary, step.content);
    if (step.ended !== null) chat = (chat ?? '') + step.ended.rest;
  }
  const released = content;
  const end = endMarkers(reader, orderly, {
    fences: fencesAtEnd(summary, kind, policy),
    openLoops: summary.openLoops,
  });
  content += end.content;
  summary = appendToSummary(summary, end.content);
  return {
    content,
    released,
    ending: end.ending,
    blank: end.blank,
    rest: chat,
    blankLinesDropped: reader.blankLinesDropped,
    summary,
  };
}

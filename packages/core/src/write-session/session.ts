import type {
  EndCandidate,
  ErrorCode,
  InvalidPlace,
  Seam,
  SessionMetadata,
  SessionQuestion,
  TextCorrection,
  TextRepair,
  WriteReceipt,
} from '@orion/contracts';

import type { CorrectionReply } from '../validation/correction-reply.ts';
import type { Omission } from '../validation/omissions.ts';
import type { Continuation, ControlState, Failure, MessageEnd, OutsideEvent } from './control.ts';
import type { AgainReader } from './text/document-again.ts';
import type { CommandAnswer } from './questions/question-row.ts';
import type { AnswerReader } from './text/answer-reader.ts';
import type { Anchor } from './text/seams/anchor.ts';
import type { BridgeReader } from './text/seams/bridge.ts';
import { eolOf } from './text/content-summary.ts';
import type { ContentSummary, LineEndingText } from './text/content-summary.ts';
import type { ConverterState } from './text/line-ending-converter.ts';
import type { MarkerReader, NearMiss } from './text/markers/marker-reader.ts';
import type { ReplyCensus } from './text/seams/reply-census.ts';
import type { SeamReader } from './text/seams/seam-reader.ts';
import type { ThinkReader } from './text/think-block.ts';
import type { TargetKind } from './text/target-kind.ts';

/** The settings of a session; the agent's settings have their names and defaults. */
export type SessionSettings = {
  readonly idleMs: number;
  readonly maxIdlePrompts: number;
  readonly saveLines: number;
  readonly saveMs: number;
  readonly maxBytes: number;
  readonly doneMode: 'terminal' | 'first';
  readonly doneSettleMs: number;
  readonly strict: boolean;
  readonly stripFence: 'auto' | 'never';
  readonly seam: 'ask' | 'accept' | 'strict';
  /** Whether to ask the model about lines that look like placeholders for omitted text. */
  readonly askOmissions: boolean;
  /** Whether the adapter distinguishes the orderly end of a message from a pause. */
  readonly signalsMessageEnd: boolean;
};

/**
 * A write session as a value: its state (`control`), what is known about the text, and how the arriving message is
 * read. Only `advance` produces the next value.
 *
 * Invariants
 * S1  Content leaves only through `append` effects, in order, and `summary` covers exactly that text.
 * S2  Until it is verified, accepted or refused, text whose place is undecided leaves only through `hold` effects.
 * S3  No text is dropped: text that is not content goes to `set_aside` or `chat`, or stays in the held text; content
 *     outside `contentStart` and `contentEnd` is kept beside the file when the file is written.
 */
export type WriteSession = SessionText & {
  readonly control: ControlState;
  readonly metadata: SessionMetadata;
  readonly settings: SessionSettings;
  readonly kind: TargetKind;
  readonly reading: Reading;
  /** Whether a think block that opens the arriving message is reasoning. */
  readonly thinkTags: boolean;
  /** Reads a think block that is skipped before the arriving reply; null if none is skipped. */
  readonly skipping: ThinkReader | null;
  /** A reply repeated the document from its start and replaced the saved text; this happens at most once. */
  readonly startedOver: boolean;
  readonly omissionsAsked: boolean;
  /**
   * The file is written without a model: a person decided so, `decided` as it is saved, or `answered` with the answer to
   * one question, which answers no other; or a program has `uploaded` the whole text, and corrects what is invalid in it.
   */
  readonly byHand: 'no' | 'answered' | 'decided' | 'uploaded';
  readonly saveTimerRuns: boolean;
  /** The reason for the last failure, in the words of whatever failed; shown to the person. */
  readonly message: string | null;
};

/** What is known about the saved text; all of it is reset when the text starts over. */
export type SessionText = {
  readonly summary: ContentSummary;
  /** Blanks before the first content; they become content together with it. */
  readonly leadingBlanks: string;
  /** What happened to a think block that opens the content: the file starts after it (`set_aside`) or with it (`kept`). */
  readonly thinking: 'none' | 'set_aside' | 'kept';
  /** The number of blank lines that were dropped before the first line. */
  readonly blankLinesDropped: number;
  readonly seams: readonly Seam[];
  readonly innerDoneLines: readonly number[];
  /**
   * DONE lines followed by a chat line, from messages that did not end in order: the model has not been asked yet
   * whether the file ends there. At most two, the last first.
   */
  readonly unaskedEnds: readonly EndCandidate[];
  /** No DONE line before this byte of the content needs a question any more. */
  readonly endsSettled: number;
  /** The byte range of the content that is the file; a null `contentEnd` means up to the end. */
  readonly contentStart: number;
  readonly contentEnd: number | null;
  readonly fenceStripped: boolean;
  readonly fenceAsked: boolean;
  readonly leadDropped: boolean;
  readonly leadAsked: boolean;
  /** Of exactly the part that is the file, if that is not all of the content; null until it has been read back. */
  readonly fileSummary: ContentSummary | null;
  /** What a message ended with whose other question has been answered; asked about next. */
  readonly unaskedNearMiss: NearMiss | null;
  /** The last message with content was cut off. */
  readonly cutOff: boolean;
  /** The text was ended by a DONE in a message of its own, or by one on the last line. */
  readonly endedByDone: boolean;
  /** How invalid text is repaired on its way to the file; null while none has been found. */
  readonly repair: TextRepair | null;
  /** The end is known: a marker arrived, or an answer said where it is. */
  readonly hasEnded: boolean;
  /** Whole lines since the last save. */
  readonly unsavedLines: number;
};

/** What is known about a text of which nothing but its summary is known. */
export function textOf(summary: ContentSummary): SessionText {
  return {
    summary,
    leadingBlanks: '',
    thinking: 'none',
    blankLinesDropped: 0,
    seams: [],
    innerDoneLines: [],
    unaskedEnds: [],
    endsSettled: 0,
    contentStart: 0,
    contentEnd: null,
    fenceStripped: false,
    fenceAsked: false,
    leadDropped: false,
    leadAsked: false,
    fileSummary: null,
    unaskedNearMiss: null,
    cutOff: false,
    endedByDone: false,
    repair: null,
    hasEnded: false,
    unsavedLines: 0,
  };
}

export type Reading =
  /** No message is arriving, or it is ordinary chat. */
  | { readonly kind: 'none'; readonly idleTimerRuns: boolean }
  /** Content, up to its marker. */
  | {
      readonly kind: 'direct';
      readonly marker: MarkerReader;
      readonly converter: ConverterState;
      /** Reads a think block that may open the message; null if none can. */
      readonly thinking: ThinkReader | null;
      /** The next content is the first of the file, after such a block. */
      readonly isBehindThinking: boolean;
      /** The size of the content when the message started, to see whether it adds anything. */
      readonly startBytes: number;
      readonly startLines: number;
      /** The question that the join closed; it is still open if the message adds nothing more. */
      readonly closed: SessionQuestion | null;
      /** How the message ended that is replayed from the held text. */
      readonly replayed: MessageEnd | null;
      readonly settleTimerRuns: boolean;
    }
  /** Undecided: the message may join the saved text. */
  | {
      readonly kind: 'seam';
      readonly seam: SeamReader;
      readonly census: ReplyCensus;
      readonly anchor: Anchor;
      readonly expecting: Continuation;
      /** The model was given the first words. */
      readonly prefilled: boolean;
      /** The same reply as an answer, to a prompt that takes `DONE` too. */
      readonly answer: AnswerReader | null;
      /** The same reply as a repetition of the document, if that can start it over. */
      readonly again: AgainReader | null;
      /** Why the reply does not join, while it is still read for what else it may be. */
      readonly hopeless: string | null;
    }
  /** The reply to the question whether the file should be empty; held in memory while it can be an answer. */
  | { readonly kind: 'confirmation'; readonly answer: AnswerReader }
  /** The reply to any other question, held in the same way. */
  | {
      readonly kind: 'answer';
      readonly answer: AnswerReader;
      readonly again: AgainReader | null;
    }
  /** Not an answer to a closed question; read on, and held, while it may repeat the document. */
  | { readonly kind: 'again'; readonly again: AgainReader }
  /** `end`: how the held second part ended. */
  | { readonly kind: 'bridge'; readonly bridge: BridgeReader; readonly end: MessageEnd }
  /** The reply to a question about invalid text; never content. */
  | { readonly kind: 'corrections'; readonly reply: CorrectionReply };

export type ReadingOf<Kind extends Reading['kind']> = Extract<Reading, { readonly kind: Kind }>;

export const NOT_READING: ReadingOf<'none'> = { kind: 'none', idleTimerRuns: false };

export type TimerName = 'idle' | 'settle' | 'save' | 'save_retry' | 'finalize_retry';

/** What happens to a session. The inputs of one session arrive one at a time. */
export type SessionInput =
  | OutsideEvent
  /**
   * A message of the model starts to arrive. `prefilled`: the model was given its first words, which arrive as text
   * like all others. `thinkTags`: the model may write its reasoning into the text, between think tags.
   */
  | {
      readonly type: 'message_started';
      readonly prefilled?: boolean;
      readonly thinkTags?: boolean;
    }
  /** The reasoning of the arriving message has a field of its own, so tags in its text are text. */
  | { readonly type: 'reasoning' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'message_ended'; readonly end: MessageEnd }
  /** The held text, read back in order after a `replay_held` effect, and its end. */
  | { readonly type: 'held_text'; readonly text: string }
  | { readonly type: 'held_end' }
  | { readonly type: 'timer'; readonly timer: TimerName }
  /** The text is not valid: `places` are the first of `count`. */
  | {
      readonly type: 'corrections_needed';
      readonly places: readonly InvalidPlace[];
      readonly count: number;
    }
  /** The text that is to replace a file has lines that look like placeholders for omitted text; nothing is written yet. */
  | { readonly type: 'omissions_suspected'; readonly omissions: readonly Omission[] }
  /** The result of `examine`: the summary of that part, with offsets of the whole content. */
  | { readonly type: 'examined'; readonly summary: ContentSummary }
  | ({ readonly type: 'finalize_failed' } & Failure)
  | { readonly type: 'recover' }
  | { readonly type: 'finalize_command'; readonly answer: CommandAnswer | null }
  /** The program that uploads the text says that it is complete; `corrections` end a round, null where none was asked for. */
  | { readonly type: 'upload_ended'; readonly corrections: readonly TextCorrection[] | null };

export type PromptReason =
  | 'idle'
  | 'nothing_saved'
  | 'empty'
  | 'question'
  | 'continuation'
  | 'ask_again'
  | 'bridge'
  | 'recovery'
  | 'corrections'
  | 'anew';

/** What the driver has to do, in order. */
export type SessionEffect =
  /** Content; `offset` and `length` are in bytes. */
  | {
      readonly type: 'append';
      readonly text: string;
      readonly offset: number;
      readonly length: number;
      /** Part of a think block that opens the content, which is not shown to a person. */
      readonly isThinking: boolean;
    }
  | { readonly type: 'hold'; readonly text: string }
  | { readonly type: 'discard_held' }
  /** Move the held text to the text that is set aside. */
  | { readonly type: 'set_aside_held' }
  /** Send the held text back as `held_text`, then `held_end`, then drop it. */
  | { readonly type: 'replay_held' }
  | { readonly type: 'set_aside'; readonly text: string }
  /** Saved bytes that turned out to be chat: show them to the person. */
  | { readonly type: 'show'; readonly start: number; readonly end: number }
  | { readonly type: 'rewind'; readonly toOffset: number }
  /** Set the content aside and start with none. */
  | { readonly type: 'start_over' }
  /** Text for the person. */
  | { readonly type: 'chat'; readonly text: string }
  | { readonly type: 'save' }
  | { readonly type: 'start_timer'; readonly timer: TimerName; readonly milliseconds: number }
  | { readonly type: 'cancel_timer'; readonly timer: TimerName }
  /** Stop reading the arriving message. */
  | { readonly type: 'stop_message' }
  /** Add a user message and request the model's next message. */
  | {
      readonly type: 'send_prompt';
      readonly prompt: string;
      readonly reason: PromptReason;
      /** How the reply has to start, for models that continue from given words. */
      readonly opening?: string;
    }
  /** Repeat the last request, after a wait. */
  | { readonly type: 'resend'; readonly attempt: number }
  /** Read this part of the content back and answer with `examined`. */
  | { readonly type: 'examine'; readonly start: number; readonly end: number }
  | {
      readonly type: 'finalize';
      readonly start: number;
      readonly end: number | null;
      /** Added at the end. */
      readonly lineEnding: LineEndingText;
    }
  | { readonly type: 'pause'; readonly code: ErrorCode }
  | { readonly type: 'release' }
  | { readonly type: 'remove' }
  | { readonly type: 'discard' }
  | { readonly type: 'warn'; readonly message: string }
  | { readonly type: 'refuse'; readonly code: ErrorCode; readonly message: string }
  | {
      readonly type: 'trace';
      readonly event: string;
      readonly details: { readonly [key: string]: string | number | boolean | null };
    };

export type SessionStep = {
  readonly session: WriteSession;
  readonly effects: readonly SessionEffect[];
};

/** Whether the arriving message is content, or may be. */
export function isContent(reading: Reading): boolean {
  return reading.kind === 'direct' || reading.kind === 'seam';
}

/** Whether the text is the whole of its file. */
export function isWholeFile({ operation }: SessionMetadata): boolean {
  return operation === 'create' || operation === 'overwrite';
}

/** The summary of exactly what would be written; null if it is not known yet. */
export function fileSummaryOf(session: WriteSession): ContentSummary | null {
  const { summary, contentStart, contentEnd, fileSummary } = session;
  const isWhole = contentStart === 0 && (contentEnd === null || contentEnd === summary.bytes);
  return isWhole ? summary : fileSummary;
}

/**
 * The line ending that the last line lacks because DONE ended it, as DONE is a line of its own (R295). Empty unless the
 * text is the end of the file.
 */
export function lineEndingOf(session: WriteSession): LineEndingText {
  const { metadata, endedByDone } = session;
  const summary = fileSummaryOf(session);
  const endsFile = metadata.operation !== 'insert' && metadata.operation !== 'replace';
  if (!endedByDone || !metadata.final_newline || !endsFile || summary === null) return '';
  if (summary.openLineMark.inkLength === 0) return '';
  return eolOf(summary) === 'crlf' && !summary.openLine.endsWith('\r') ? '\r\n' : '\n';
}

/** What a receipt says about how the text became the file, apart from its lines and seams. */
export type ReceiptNotes = Pick<
  WriteReceipt,
  | 'fence_stripped'
  | 'lead_dropped'
  | 'thinking_set_aside'
  | 'leading_blank_lines_dropped'
  | 'final_newline_added'
  | 'warnings'
>;

export function receiptNotesOf(session: WriteSession): ReceiptNotes {
  const { thinking, blankLinesDropped } = session;
  const { fenceStripped, leadDropped, cutOff, contentEnd, summary, hasEnded } = session;
  // Only DONE arrived after a message that was cut off: the text may be too short.
  const isToItsEnd = contentEnd === null || contentEnd === summary.bytes;
  const endedAfterCut = cutOff && isToItsEnd && hasEnded;
  return {
    fence_stripped: fenceStripped,
    ...(leadDropped ? { lead_dropped: true } : {}),
    ...(thinking === 'set_aside' ? { thinking_set_aside: true } : {}),
    ...(blankLinesDropped === 0 ? {} : { leading_blank_lines_dropped: blankLinesDropped }),
    ...(lineEndingOf(session) === '' ? {} : { final_newline_added: true }),
    warnings: [
      ...(endedAfterCut ? ['ended_after_cut'] : []),
      // Nothing proves that its opening is reasoning, or where that would end.
      ...(thinking === 'kept' ? ['opens_with_thinking'] : []),
      // Only the person who had the text written said that it is complete.
      ...(hasEnded ? [] : ['finalized_by_hand']),
    ],
  };
}

/**
 * Where the file ends in the content, excluding its last line ending if the model asked for none. Nothing else is left
 * out: a file that ends within a line has no last line ending.
 */
export function fileEndOf(session: WriteSession): number | null {
  const { metadata, summary, contentEnd } = session;
  const file = fileSummaryOf(session);
  if (metadata.final_newline || file === null) return contentEnd;
  if (file.lastEnding === '' || file.openLineLength > 0) return contentEnd;
  return (contentEnd ?? summary.bytes) - file.lastEnding.length;
}

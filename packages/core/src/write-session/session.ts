import type {
  EndCandidate,
  ErrorCode,
  InvalidPlace,
  Seam,
  SessionMetadata,
  SessionQuestion,
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
import type { ContentSummary } from './text/content-summary.ts';
import type { ConverterState } from './text/line-ending-converter.ts';
import type { MarkerReader, NearMiss } from './text/markers/marker-reader.ts';
import type { ReplyCensus } from './text/seams/reply-census.ts';
import type { SeamReader } from './text/seams/seam-reader.ts';
import type { ThinkReader } from './text/think-block.ts';
import type { TargetKind } from './text/target-kind.ts';

/** The settings that a session follows; see the agent's settings for their names and defaults. */
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
  /** Whether the model is asked about lines that stand for left-out text. */
  readonly askOmissions: boolean;
  /** Whether the adapter tells the orderly end of a message from a pause. */
  readonly signalsMessageEnd: boolean;
};

/**
 * A write session as a value: where it stands (`control`), what is known of the text, and how the message that
 * is arriving is read. `advance` makes the next one; nothing else does.
 *
 * Invariants
 * S1  Content leaves by `append` effects only, in order, and `summary` has seen exactly that text.
 * S2  Text whose place is undecided leaves by `hold` effects only until it is verified, accepted or refused.
 * S3  No text is dropped: what is not content goes to `set_aside`, `chat`, or stays in the held text; content outside
 *     of `contentStart` and `contentEnd` is kept beside the file when it is written.
 */
export type WriteSession = SessionText & {
  readonly control: ControlState;
  readonly metadata: SessionMetadata;
  readonly settings: SessionSettings;
  readonly kind: TargetKind;
  readonly reading: Reading;
  /** Whether a think block that opens the message that arrives is its model's reasoning. */
  readonly thinkTags: boolean;
  /** A think block before the reply that arrives; null where none is left out. */
  readonly skipping: ThinkReader | null;
  /** A reply was the document again, and took the place of what was saved: that happens once. */
  readonly startedOver: boolean;
  readonly omissionsAsked: boolean;
  /**
   * A person asked for the file to be written, without a model: what is saved, or with an answer to one question, which
   * answers no other.
   */
  readonly byHand: 'no' | 'answered' | 'decided';
  readonly saveTimerRuns: boolean;
  /** The commit's own account of the failure, for the person. */
  readonly message: string | null;
};

/** What is known of the saved text: all of it begins anew where the text does. */
export type SessionText = {
  readonly summary: ContentSummary;
  /** Blanks before the first content; they become content with it. */
  readonly leadingBlanks: string;
  /** What became of a think block that opens the content: the file begins behind it, or with it. */
  readonly thinking: 'none' | 'set_aside' | 'kept';
  /** How many blank lines before the first line were left out. */
  readonly blankLinesDropped: number;
  readonly seams: readonly Seam[];
  readonly innerDoneLines: readonly number[];
  /**
   * DONE lines that a chat line follows, of messages that did not end in order: whether the file ends there was not
   * asked yet. At most two, the last first.
   */
  readonly unaskedEnds: readonly EndCandidate[];
  /** Bytes of content of which no DONE line is open to question any more. */
  readonly endsSettled: number;
  /** The part of the content, in bytes, that is the file; `contentEnd` null means all. */
  readonly contentStart: number;
  readonly contentEnd: number | null;
  readonly fenceStripped: boolean;
  readonly fenceAsked: boolean;
  readonly leadDropped: boolean;
  readonly leadAsked: boolean;
  /** Of exactly the part that is the file, where that is not all; null until it was read back. */
  readonly fileSummary: ContentSummary | null;
  /** What the message with an answered question ended with, which is asked about next. */
  readonly unaskedNearMiss: NearMiss | null;
  /** The last message that brought content did not come to its end. */
  readonly cutOff: boolean;
  /** A DONE of its own, behind another message or glued to the last line, ended the text. */
  readonly endedByDone: boolean;
  /** How invalid text is mended on its way to the file; null while nothing invalid was found. */
  readonly repair: TextRepair | null;
  /** Its end is known: a marker came, or an answer said where it is. */
  readonly hasEnded: boolean;
  /** Whole lines since the last save. */
  readonly unsavedLines: number;
};

/** Nothing is known of a text but what is saved of it. */
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
  /** No message is arriving, or one that is ordinary chat. */
  | { readonly kind: 'none'; readonly idleTimerRuns: boolean }
  /** Known content, up to its marker. */
  | {
      readonly kind: 'direct';
      readonly marker: MarkerReader;
      readonly converter: ConverterState;
      /** A think block that may open the message; null where none can. */
      readonly thinking: ThinkReader | null;
      /** The next content is the first of the file, behind such a block. */
      readonly isBehindThinking: boolean;
      /** Size of the content when the message began, to see whether it brought anything. */
      readonly startBytes: number;
      readonly startLines: number;
      /** The question that its join has closed, and that is open still if it brings nothing more. */
      readonly closed: SessionQuestion | null;
      /** The end of the message that is being replayed from the held text. */
      readonly replayed: MessageEnd | null;
      readonly settleTimerRuns: boolean;
    }
  /** Undecided: it may join the saved text. */
  | {
      readonly kind: 'seam';
      readonly seam: SeamReader;
      readonly census: ReplyCensus;
      readonly anchor: Anchor;
      readonly expecting: Continuation;
      /** Its first words were given to the model. */
      readonly prefilled: boolean;
      /** The same reply as an answer, to a prompt that takes `DONE` too. */
      readonly answer: AnswerReader | null;
      /** And as the document again, where that would start it over. */
      readonly again: AgainReader | null;
      /** The reply does not join; it is read on all the same. */
      readonly hopeless: string | null;
    }
  /** The reply to the question whether the file is to be empty; held in memory while it can be an answer. */
  | { readonly kind: 'confirmation'; readonly answer: AnswerReader }
  /** The reply to any other question, held likewise. */
  | {
      readonly kind: 'answer';
      readonly answer: AnswerReader;
      readonly again: AgainReader | null;
    }
  /** No answer to a question that only its words answer: read on, and held, while it may be the document again. */
  | { readonly kind: 'again'; readonly again: AgainReader }
  /** `end`: how the held part two had ended. */
  | { readonly kind: 'bridge'; readonly bridge: BridgeReader; readonly end: MessageEnd }
  /** The reply to a question about invalid text; never content. */
  | { readonly kind: 'corrections'; readonly reply: CorrectionReply };

export type ReadingOf<Kind extends Reading['kind']> = Extract<Reading, { readonly kind: Kind }>;

export const NOT_READING: ReadingOf<'none'> = { kind: 'none', idleTimerRuns: false };

export type TimerName = 'idle' | 'settle' | 'save' | 'save_retry' | 'finalize_retry';

/** What happens to a session. Inputs of one session come one after the other. */
export type SessionInput =
  | OutsideEvent
  /** A message of the model begins to arrive. */
  /**
   * `prefilled`: its first words were put into the model's mouth; they come as its text like all others. `thinkTags`:
   * its model may have written its reasoning into the text, between think tags.
   */
  | {
      readonly type: 'message_started';
      readonly prefilled?: boolean;
      readonly thinkTags?: boolean;
    }
  /** The reasoning of the message that arrives has a field of its own, so that tags in its text are text. */
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
  /** The text that replaces a file has lines that stand for left-out text; nothing is written yet. */
  | { readonly type: 'omissions_suspected'; readonly omissions: readonly Omission[] }
  /** What `examine` asked for: the summary of that part, with the content's own offsets. */
  | { readonly type: 'examined'; readonly summary: ContentSummary }
  | ({ readonly type: 'finalize_failed' } & Failure)
  | { readonly type: 'recover' }
  | { readonly type: 'finalize_command'; readonly answer: CommandAnswer | null };

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

/** What the driver carries out, in order. */
export type SessionEffect =
  /** Content; `offset` and `length` are its bytes. */
  | {
      readonly type: 'append';
      readonly text: string;
      readonly offset: number;
      readonly length: number;
      /** Of a think block that opens the content: nothing for a person to watch. */
      readonly isThinking: boolean;
    }
  | { readonly type: 'hold'; readonly text: string }
  | { readonly type: 'discard_held' }
  /** The held text moves to what was set aside. */
  | { readonly type: 'set_aside_held' }
  /** Feed the held text back as `held_text`, then `held_end`, then drop it. */
  | { readonly type: 'replay_held' }
  | { readonly type: 'set_aside'; readonly text: string }
  /** Saved bytes that are not the file but chat: the person sees them. */
  | { readonly type: 'show'; readonly start: number; readonly end: number }
  | { readonly type: 'rewind'; readonly toOffset: number }
  /** Set the content aside and begin it anew. */
  | { readonly type: 'start_over' }
  /** Ordinary text for the person. */
  | { readonly type: 'chat'; readonly text: string }
  | { readonly type: 'save' }
  | { readonly type: 'start_timer'; readonly timer: TimerName; readonly milliseconds: number }
  | { readonly type: 'cancel_timer'; readonly timer: TimerName }
  /** Stop reading the message that is arriving. */
  | { readonly type: 'stop_message' }
  /** A user message, after which the model is asked for the next message. */
  | {
      readonly type: 'send_prompt';
      readonly prompt: string;
      readonly reason: PromptReason;
      /** How the reply has to begin, for models that go on with words that are given to them. */
      readonly opening?: string;
    }
  /** The same request again, after a wait. */
  | { readonly type: 'resend'; readonly attempt: number }
  /** Read this part of the content back and say what it is: `examined`. */
  | { readonly type: 'examine'; readonly start: number; readonly end: number }
  | {
      readonly type: 'finalize';
      readonly start: number;
      readonly end: number | null;
      /** Added behind it. */
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

/** A line ending to be added; empty where none is. */
export type LineEndingText = '' | '\n' | '\r\n';

/** Whether the message that is read brings content, or may. */
export function isContent(reading: Reading): boolean {
  return reading.kind === 'direct' || reading.kind === 'seam';
}

/** Whether the text is the whole of its file. */
export function isWholeFile({ operation }: SessionMetadata): boolean {
  return operation === 'create' || operation === 'overwrite';
}

/** Of exactly what would be written; null: it is not known yet. */
export function fileSummaryOf(session: WriteSession): ContentSummary | null {
  const { summary, contentStart, contentEnd, fileSummary } = session;
  const isWhole = contentStart === 0 && (contentEnd === null || contentEnd === summary.bytes);
  return isWhole ? summary : fileSummary;
}

/**
 * The line ending that the last line lacks, where DONE ended it: DONE stands on a line of its own (R295). Only where
 * the text is the end of the file.
 */
export function lineEndingOf(session: WriteSession): LineEndingText {
  const { metadata, endedByDone } = session;
  const summary = fileSummaryOf(session);
  const endsFile = metadata.operation !== 'insert' && metadata.operation !== 'replace';
  if (!endedByDone || !metadata.final_newline || !endsFile || summary === null) return '';
  if (summary.openLineMark.inkLength === 0) return '';
  return eolOf(summary) === 'crlf' && !summary.openLine.endsWith('\r') ? '\r\n' : '\n';
}

/** What a receipt says of how the text became the file, beside its lines and its seams. */
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
  // Nothing but DONE came after a message that had not come to its end: the text may be too short.
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
      // Nothing shows that what opens it is reasoning, or where that ends.
      ...(thinking === 'kept' ? ['opens_with_thinking'] : []),
      // Nobody but the person who had the text written has said that it is complete.
      ...(hasEnded ? [] : ['finalized_by_hand']),
    ],
  };
}

/** Where the file ends in the content; without its last line ending when the model asked for that. */
export function fileEndOf(session: WriteSession): number | null {
  const { metadata, summary, contentEnd } = session;
  if (metadata.final_newline) return contentEnd;
  const endsLine =
    contentEnd === null ? summary.lineFeeds > 0 && summary.openLineLength === 0 : contentEnd > 0;
  if (!endsLine) return contentEnd;
  return Math.max(0, (contentEnd ?? summary.bytes) - (eolOf(summary) === 'crlf' ? 2 : 1));
}

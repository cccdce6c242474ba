import type { FenceLine } from '../lines.ts';

/** What ends the content of one message, and where the message begins. */
export type MarkerReaderOptions = {
  /** The session's own marker line, such as `DONE 7f3a`. */
  readonly endMarker: string;
  /** Only the end marker counts; a bare DONE is content like any other line. */
  readonly strict: boolean;
  /** `first`: the first bare DONE ends the content, and the text after it is set aside. */
  readonly doneMode: 'terminal' | 'first';
  /** False if the message continues the content's open line. */
  readonly atLineStart: boolean;
  /** That line, if it is short enough to be the beginning of a marker; else empty. */
  readonly openLine: string;
  /** Blank lines before the first line are not content. Only for the first message (R272). */
  readonly dropBlankLines: boolean;
  /** The content has text before this message. */
  readonly followsText: boolean;
  /** Bytes and LFs of the content before this message. */
  readonly contentBytes: number;
  readonly contentLines: number;
  /** A fence around the reply that is not part of its text; its closing line is set aside. */
  readonly wrappingFence: FenceLine | null;
};

/** `prefix`: an incomplete line that may become any of the others. */
export type LineKind = 'text' | 'blank' | 'done' | 'end_marker' | 'fence' | 'prefix';

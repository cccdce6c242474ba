import type { FenceLine } from '../lines.ts';

/** What ends the content of one message, and where that message begins. */
export type MarkerReaderOptions = {
  /** The session's own marker line, such as `DONE 7f3a`. */
  readonly endMarker: string;
  /** Only the end marker counts; a bare DONE is content like any other line. */
  readonly strict: boolean;
  /** `first`: the first bare DONE ends the content and what follows is set aside. */
  readonly doneMode: 'terminal' | 'first';
  /** False when the message goes on in the content's open line. */
  readonly atLineStart: boolean;
  /** That line, where it is short enough for the beginning of a marker that was cut off; else empty. */
  readonly openLine: string;
  /** Blank lines before the first line are none of the content; nothing stands before this message then (R272). */
  readonly dropBlankLines: boolean;
  /** Bytes and LF count of the content before this message. */
  readonly contentBytes: number;
  readonly contentLines: number;
  /** A fence that the reply opened around its text and that is not part of it; its closing line is set aside. */
  readonly wrappingFence: FenceLine | null;
};

/** `prefix`: a line that is not complete and may yet become one of the others. */
export type LineKind = 'text' | 'blank' | 'done' | 'end_marker' | 'fence' | 'prefix';

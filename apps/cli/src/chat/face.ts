import type { LineKind } from '../terminal/tone.ts';

/**
 * One of the two ways in which a conversation is shown and typed. Both show the same words.
 *
 * F1. A face decides nothing about a conversation: it shows a view and reports what the person did.
 * F2. Whatever it is given is hostile: it sanitises every byte before the terminal sees it.
 * F3. Nothing waits for the terminal but what comes after `printWhole`, `lend` and `close`.
 */
export type Face = {
  /** What the person does, in order. Ends when nothing more can be typed. */
  readonly inputs: AsyncIterable<FaceInput>;
  /** Adds to the transcript, for good. */
  print(block: TranscriptBlock): void;
  /**
   * Adds verbatim lines that a person is asked about: whatever the terminal reads, none of them is left out (B18).
   * Settles when there is room for more.
   */
  printWhole(lines: VerbatimLines): Promise<void>;
  /** Text of the model, as it arrives; Markdown. */
  say(text: string): void;
  /** The model's message has ended: what was said is complete. */
  endSaying(): void;
  /** Replaces what is shown of the present. */
  show(view: FaceView): void;
  /** What the person is typing, as far as it is known. */
  draft(): string;
  /** Replaces what the person is typing. */
  setDraft(text: string): void;
  /** Writes a control sequence of our own that prints nothing, such as one for the clipboard. */
  emit(sequence: string): void;
  /** Gives the terminal to another program until `use` has settled, then draws again. */
  lend(use: () => Promise<void>): Promise<void>;
  /** Restores the terminal, and settles when it has everything or does not read. May be called twice. */
  close(): Promise<void>;
};

/** Finished text: printed once, never touched again. */
export type TranscriptBlock =
  | { readonly kind: 'line'; readonly text: string; readonly tone: LineKind }
  /** What the person sent, with what was attached to it. */
  | { readonly kind: 'prompt'; readonly text: string; readonly attached: readonly string[] }
  /** Lines that are copied as they are: a command, a diff, a path. Never wrapped. */
  | { readonly kind: 'verbatim'; readonly lines: VerbatimLines };

export type VerbatimLines = readonly { readonly text: string; readonly tone: LineKind }[];

export type FaceView = {
  /** Whether a turn runs. */
  readonly busy: boolean;
  /** What is being done right now, such as the file that is written and how much of it is saved; null: nothing. */
  readonly activity: string | null;
  /** Prompts that wait for the end of the turn, oldest first. */
  readonly queued: readonly string[];
  /** Parts of the status line; on a narrow terminal those at the end go first. */
  readonly status: readonly string[];
  /** What the person is asked; while it is there, typing answers it. */
  readonly question: FaceQuestion | null;
};

export type FaceQuestion =
  | {
      readonly kind: 'choice';
      /** Never that of an earlier question: what was typed before a question was shown does not answer it. */
      readonly id: number;
      readonly text: string;
      readonly choices: readonly FaceChoice[];
      /** Taken by Enter alone; null: Enter alone answers nothing. */
      readonly preset: string | null;
    }
  | {
      readonly kind: 'pick';
      readonly id: number;
      readonly text: string;
      /** Typing filters them. */
      readonly items: readonly {
        readonly value: string;
        readonly label: string;
        readonly detail: string;
      }[];
    };

export type FaceChoice = {
  /** One letter, unique in its question. */
  readonly key: string;
  /** With the letter in parentheses: `(y)es`. */
  readonly label: string;
  /** Asks for a line of text with it, such as the reason of a no; null: it needs none. */
  readonly asksFor: string | null;
};

export type FaceInput =
  | { readonly type: 'submitted'; readonly text: string }
  /** Esc, with no menu open. */
  | { readonly type: 'stop' }
  /** Ctrl-C, with what was being typed. */
  | { readonly type: 'interrupt'; readonly draft: string }
  /** Ctrl-D on an empty line, or the end of the input. */
  | { readonly type: 'end' }
  /** Up while prompts are queued: the last of them is to be edited again. */
  | { readonly type: 'recall' }
  /** Ctrl-G: the draft is to be edited in the person's own editor. */
  | { readonly type: 'edit'; readonly draft: string }
  /** An answer; `value` is the key of a choice or the value of an item, null when the person closed the question. */
  | {
      readonly type: 'answered';
      readonly id: number;
      readonly value: string | null;
      readonly text: string;
    };

/** What can be completed in a draft, asked while the person types. */
export type Completer = (
  draft: string,
  /** In UTF-16 units. */
  caret: number,
  signal: AbortSignal,
) => Promise<Completion | null>;

export type Completion = {
  /** Where the completed word begins; it ends at the caret. */
  readonly from: number;
  readonly items: readonly {
    readonly value: string;
    readonly label: string;
    readonly detail: string;
  }[];
};

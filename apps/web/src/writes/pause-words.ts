import { ERROR_CODES } from '@orion/contracts';
import type { ErrorCode, OpenUpload } from '@orion/contracts';

/** Why a write waits, for those codes whose own sentence is meant for a model, or for a terminal. */
const WORDS: Partial<Record<ErrorCode, string>> = {
  NO_DONE: 'The model stopped without saying that the file is complete.',
  SEAM_UNVERIFIED:
    'The text was interrupted, and what came afterwards could not be joined to it without doubt.',
  CONTENT_TOO_LARGE: 'The text has reached the largest size that a file may have here.',
  TARGET_CHANGED:
    'The file was changed by something else after the write began. Nothing was overwritten.',
  FILE_EXISTS:
    'Something else made a file of this name after the write began. Nothing was overwritten.',
  TARGET_NOT_UTF8: 'The file is not UTF-8, so that this text cannot become a part of it.',
  INVALID_CONTENT: 'The text is not valid UTF-8 in some places.',
  EMPTY_CONTENT: 'There is no text yet.',
  APPROVAL_REFUSED: 'The change was rejected. Nothing was written.',
  BUDGET_EXHAUSTED: 'A limit of the turn was reached.',
  ABORTED: 'The turn was stopped.',
  SESSION_DAMAGED: 'Its files on the disk are not what Orion left there.',
  SESSION_FOREIGN: 'It came with the folder, or another user began it.',
};

/** Why a write waits, in a sentence. A code of a newer server says it itself. */
export function pauseWords(code: string): string {
  const known = code as ErrorCode;
  return WORDS[known] ?? ERROR_CODES[known] ?? code;
}

/** What a person may do with a session that is not done. Each exists only where it can succeed. */
export type WaysOn = {
  readonly canWrite: boolean;
  readonly canDiscard: boolean;
  /** A choice comes first: the file is not the one that the write began with. */
  readonly hasConflict: boolean;
  /** Goes on with the model, in a terminal; null if no model writes it. */
  readonly command: string | null;
};

/** With the same text, these meet the same file again. */
const NEVER_WRITTEN: ReadonlySet<string> = new Set(['TARGET_NOT_UTF8']);
const CONFLICTS: ReadonlySet<string> = new Set(['TARGET_CHANGED', 'FILE_EXISTS']);

export function waysOn({
  session_id: id,
  status,
  code = '',
  bytes,
  uploaded,
}: Pick<OpenUpload, 'session_id' | 'status' | 'code' | 'bytes' | 'uploaded'>): WaysOn {
  const isReadOnly = status === 'foreign' || status === 'damaged';
  const isOurs = !isReadOnly && status !== 'in_use';
  return {
    canWrite: isOurs && bytes > 0 && !NEVER_WRITTEN.has(code),
    canDiscard: status !== 'in_use',
    hasConflict: CONFLICTS.has(code),
    command: isOurs && !uploaded ? `orion recover-session ${id}` : null,
  };
}

/** An open question is answered with one of these. */
export type Answer = {
  readonly words: string;
  readonly body: { readonly answer?: 'keep' | 'strip' | 'done' | 'drop'; readonly endAt?: number };
};

const ANSWERS = {
  keep: 'Keep it: it belongs to the file',
  strip: 'Leave the code fence around the text out',
  done: 'The file is complete; all of it belongs to it',
  drop: 'Leave it out: it does not belong to the file',
} as const;

/** The answers that the sentence of QUESTION_OPEN names as options of the command. */
export function answersIn(message: string): readonly Answer[] {
  const named = message.matchAll(/--(?:answer (keep|strip|done|drop)|end-at (\d{1,9}))\b/gu);
  return Array.from(named, ([, answer, line]) =>
    line === undefined
      ? { words: ANSWERS[answer as keyof typeof ANSWERS], body: { answer: answer as 'keep' } }
      : { words: `The file ends before line ${line}`, body: { endAt: Number(line) } },
  );
}

import type {
  ErrorCode,
  KeptArgument,
  PausedSession,
  SessionHandle,
  ValidationSummary,
  WriteReceipt,
} from '@orion/contracts';
import { defined, ERROR_CODES } from '@orion/contracts';
import { keptNote } from '@orion/protocols';

/** The most seams that a model sees one by one. */
const MAX_TOLD_SEAMS = 10;
const MAX_NOTE = 500;

/**
 * What begin's tool result becomes once the file is written: all that later requests carry of it. No content, and
 * no placeholder for it that a model could imitate.
 */
export function receiptMessage(receipt: WriteReceipt): string {
  const unverified = receipt.seams.filter((seam) => seam.status === 'unverified');
  return JSON.stringify({
    status: 'written',
    target_file: receipt.target_file,
    operation: receipt.operation,
    bytes: receipt.bytes,
    lines: receipt.lines,
    sha256: receipt.sha256,
    line_endings: receipt.eol,
    seams: receipt.seams.length,
    ...defined({
      unverified_seams_at_lines: some(unverified.map((seam) => seam.line)),
      fence_stripped: receipt.fence_stripped || undefined,
      lead_dropped: receipt.lead_dropped || undefined,
      thinking_set_aside: receipt.thinking_set_aside || undefined,
      leading_blank_lines_dropped: receipt.leading_blank_lines_dropped,
      final_newline_added: receipt.final_newline_added || undefined,
    }),
    ...validationNote(receipt.validation_summary),
    ...defined({
      inner_done_lines: some(receipt.inner_done_lines),
      backup_id: receipt.backup_id,
      warnings: some(receipt.warnings),
    }),
  });
}

/** After the directory has gone: where text that was set aside is now. */
export function withRemoved(
  receipt: WriteReceipt,
  removed: Awaited<ReturnType<SessionHandle['remove']>>,
): WriteReceipt {
  const { trailing, warnings } = removed;
  return { ...receipt, ...defined({ trailing }), warnings: [...receipt.warnings, ...warnings] };
}

/** The first of them; undefined where there are none. */
function some<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items.slice(0, MAX_TOLD_SEAMS);
}

/** Only where something of the text is not what the model wrote. */
function validationNote(summary: ValidationSummary): object {
  const { corrected, replaced, replaced_at = [], omission_suspected, hidden_at = [] } = summary;
  const { hidden_characters } = summary;
  const first = <Item>(items: readonly Item[]): readonly Item[] => items.slice(0, MAX_TOLD_SEAMS);
  return defined({
    corrected_places: corrected || undefined,
    replaced_places: replaced || undefined,
    replaced_at_lines: replaced === 0 ? undefined : first(replaced_at).map(({ line }) => line),
    omission_suspected_at_lines: omission_suspected && first(omission_suspected),
    hidden_characters,
    hidden_at: hidden_characters === undefined ? undefined : first(hidden_at),
  });
}

/**
 * What begin's tool result becomes when the session waits for a person; `written` where the file had the text once.
 * `message` is included only for a refused approval, because it is the reviewer's answer.
 */
export function pausedMessage(
  paused: PausedSession,
  message: string | null = null,
  written = false,
): string {
  const isRefused = paused.code === 'APPROVAL_REFUSED';
  return openNote(
    paused.target_file,
    (target) => ({
      status: 'paused',
      code: paused.code,
      target_file: target,
      saved_lines: paused.lines,
      session_id: paused.session_id,
    }),
    written ? 'The file was written, and changed by somebody since.' : NOT_WRITTEN,
    (isRefused && message) || undefined,
  );
}

/** What it is in a history that is read after the process died while the content arrived. */
export function interruptedMessage(sessionId: string, targetFile: string): string {
  return openNote(
    targetFile,
    (target) => ({ status: 'interrupted', target_file: target, session_id: sessionId }),
    NOT_WRITTEN,
  );
}

const NOT_WRITTEN = 'The file is not written.';

function openNote(
  targetFile: string,
  facts: (target: string) => object,
  standing: string,
  message?: string,
): string {
  let target = targetFile;
  let reason = message;
  const note = (): string =>
    JSON.stringify({
      ...facts(target),
      note: `${standing} A person decides how to go on.`,
      ...defined({ reason: reason?.toWellFormed() }),
    });
  // A name can be long, and longer still in JSON; the note keeps its end, which distinguishes files, and the beginning
  // of a reason.
  while (note().length > MAX_NOTE) {
    if (reason !== undefined && reason.length > target.length) {
      reason = reason.slice(0, Math.floor((reason.length * 3) / 4));
    } else {
      target = target.slice(Math.ceil(target.length / 4));
    }
  }
  return note();
}

/** Codes of a write that was aborted while its turn goes on: the model may begin the file again. */
export type UnwrittenCode = 'EMPTY_CONTENT' | 'SESSION_NOT_FOUND';

export function isUnwritten(code: string | undefined): code is UnwrittenCode {
  return code === 'EMPTY_CONTENT' || code === 'SESSION_NOT_FOUND';
}

/** `kept`: what the model sent in calls while it was asked for the content. */
export function abortedMessage(code: ErrorCode, kept: readonly KeptArgument[] = []): string {
  const { message: why, hint } = unwritten(code);
  const message = [why, ...keptNote(kept)].join(' ');
  return JSON.stringify({ error: { code, message, hint } });
}

function unwritten(code: ErrorCode): { readonly message: string; readonly hint: string } {
  const hint = ERROR_CODES[code];
  switch (code) {
    case 'EMPTY_CONTENT':
      return { message: 'No content arrived; nothing was written.', hint };
    case 'SESSION_NOT_FOUND':
      return {
        message: 'The store has lost the text of this file; nothing was written.',
        hint: 'Begin the file again.',
      };
    default:
      return { message: 'The write was cancelled; nothing was written.', hint };
  }
}

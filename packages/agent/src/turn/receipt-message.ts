import type {
  ErrorCode,
  PausedSession,
  SessionHandle,
  ValidationSummary,
  WriteReceipt,
} from '@orion/contracts';
import { ERROR_CODES } from '@orion/contracts';

/** The most seams that a model is told of one by one. */
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
    ...(unverified.length === 0
      ? {}
      : {
          unverified_seams_at_lines: unverified.slice(0, MAX_TOLD_SEAMS).map((seam) => seam.line),
        }),
    ...(receipt.fence_stripped ? { fence_stripped: true } : {}),
    ...(receipt.lead_dropped === true ? { lead_dropped: true } : {}),
    ...(receipt.thinking_set_aside === true ? { thinking_set_aside: true } : {}),
    ...(receipt.leading_blank_lines_dropped === undefined
      ? {}
      : { leading_blank_lines_dropped: receipt.leading_blank_lines_dropped }),
    ...(receipt.final_newline_added === true ? { final_newline_added: true } : {}),
    ...validationNote(receipt.validation_summary),
    ...(receipt.inner_done_lines.length === 0
      ? {}
      : { inner_done_lines: receipt.inner_done_lines.slice(0, MAX_TOLD_SEAMS) }),
    ...(receipt.backup_id === undefined ? {} : { backup_id: receipt.backup_id }),
    ...(receipt.warnings.length === 0
      ? {}
      : { warnings: receipt.warnings.slice(0, MAX_TOLD_SEAMS) }),
  });
}

/** After the directory has gone: where text that was set aside is now. */
export function withRemoved(
  receipt: WriteReceipt,
  removed: Awaited<ReturnType<SessionHandle['remove']>>,
): WriteReceipt {
  const { trailing, warnings } = removed;
  return {
    ...receipt,
    ...(trailing === undefined ? {} : { trailing }),
    warnings: [...receipt.warnings, ...warnings],
  };
}

/** Only where something of the text is not what the model wrote. */
function validationNote(summary: ValidationSummary): object {
  const { corrected, replaced, replaced_at, omission_suspected, hidden_characters } = summary;
  return {
    ...(corrected === 0 ? {} : { corrected_places: corrected }),
    ...(replaced === 0
      ? {}
      : {
          replaced_places: replaced,
          replaced_at_lines: replaced_at?.slice(0, MAX_TOLD_SEAMS).map(({ line }) => line) ?? [],
        }),
    ...(omission_suspected === undefined
      ? {}
      : { omission_suspected_at_lines: omission_suspected.slice(0, MAX_TOLD_SEAMS) }),
    ...(hidden_characters === undefined
      ? {}
      : {
          hidden_characters,
          hidden_at: summary.hidden_at?.slice(0, MAX_TOLD_SEAMS) ?? [],
        }),
  };
}

/** What begin's tool result becomes when the session waits for a person; `written` where the file had the text once. */
export function pausedMessage(paused: PausedSession, written = false): string {
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

function openNote(targetFile: string, facts: (target: string) => object, standing: string): string {
  const note = (target: string): string =>
    JSON.stringify({
      ...facts(target),
      note: `${standing} A person decides how to go on.`,
    });
  // A name can be long, and longer still in JSON; the note keeps its end, which tells files apart.
  let target = targetFile;
  while (note(target).length > MAX_NOTE) target = target.slice(Math.ceil(target.length / 4));
  return note(target);
}

export function abortedMessage(code: ErrorCode): string {
  return JSON.stringify({
    error: {
      code,
      message:
        code === 'EMPTY_CONTENT'
          ? 'No content arrived; nothing was written.'
          : 'The write was cancelled; nothing was written.',
      hint: ERROR_CODES[code],
    },
  });
}

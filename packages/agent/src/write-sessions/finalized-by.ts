import type { ErrorCode, ErrorInfo, RunEvent, WriteReceipt } from '@orion/contracts';
import { ERROR_CODES, OrionError } from '@orion/contracts';

export type Finalized =
  | { readonly kind: 'written'; readonly receipt: WriteReceipt }
  /** Its text is not valid. */
  | { readonly kind: 'invalid' };

/**
 * How the turn ended that finalized a session. Rejects with the reason if the session waits for something other than
 * corrections.
 */
export async function finalizedBy(events: AsyncIterable<RunEvent>): Promise<Finalized> {
  let receipt: WriteReceipt | null = null;
  let code: ErrorCode | null = null;
  let error: ErrorInfo | null = null;
  let notice = '';
  for await (const event of events) {
    if (event.type === 'write_session') {
      receipt = event.receipt ?? receipt;
      code = (event.code as ErrorCode | undefined) ?? code;
    } else if (event.type === 'error') {
      ({ error } = event);
    } else if (event.type === 'chunk' && event.source === 'notice') {
      notice = event.content.trim();
    }
  }
  if (receipt !== null) return { kind: 'written', receipt };
  if (code === 'INVALID_CONTENT') return { kind: 'invalid' };
  const reason = error?.code ?? code ?? 'INTERNAL_ERROR';
  throw new OrionError({
    code: reason,
    message: error?.message ?? (notice === '' ? ERROR_CODES[reason] : notice),
    hint: hintOf(reason),
    retryable: error?.retryable ?? false,
  });
}

/** Without the options of a command, which a turn names. */
function hintOf(code: ErrorCode): string {
  switch (code) {
    case 'TARGET_CHANGED':
    case 'FILE_EXISTS':
      return 'Recover the session with finalize, and with onConflict "overwrite" (a backup is kept) or "keep-both".';
    case 'QUESTION_OPEN':
      return 'Recover the session with finalize and the answer.';
    case 'EMPTY_CONTENT':
      return 'Upload the text. Only a new file may be empty, with allowEmpty.';
    default:
      return ERROR_CODES[code];
  }
}

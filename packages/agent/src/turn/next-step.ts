import { ERROR_CODES } from '@orion/contracts';
import type { ErrorCode } from '@orion/contracts';

/** What a person can do about a session that ended with this code: whole commands, with its own id. */
export function nextStep(code: ErrorCode, sessionId: string): string {
  const recover = `orion recover-session ${sessionId}`;
  switch (code) {
    case 'EMPTY_CONTENT':
      return `Let the model write it with \`${recover}\`, or put it aside with \`${recover} --discard\`.`;
    case 'FILE_EXISTS':
    case 'TARGET_CHANGED':
      return 'Add --on-conflict=overwrite to replace it (a backup is kept), or --on-conflict=keep-both to write beside it.';
    // An answer to a question that nobody asked.
    case 'USAGE':
      return `Write all of it with \`${recover} --finalize\`, or copy it with \`${recover} --out <file>\` and cut it yourself.`;
    default:
      return ERROR_CODES[code].replaceAll('<id>', sessionId);
  }
}

import { commandWord, ERROR_CODES } from '@orion/contracts';
import type { ErrorCode } from '@orion/contracts';

/** A session as a command names it. */
export type SessionName = {
  readonly sessionId: string;
  /** The file outside of the session that has all of its text, if there is one: then that has to be named. */
  readonly rescuedText?: string | null;
};

export function recoverCommand({ sessionId, rescuedText = null }: SessionName): string {
  return `orion recover-session ${rescuedText === null ? sessionId : `--from ${commandWord(rescuedText)}`}`;
}

/**
 * What a person can do about a session that ended with this code: whole commands, with its own name. `goOn` is the one that
 * goes on with it, where that is known.
 */
export function nextStep(code: ErrorCode, session: SessionName, goOn?: string): string {
  const recover = recoverCommand(session);
  switch (code) {
    case 'EMPTY_CONTENT':
      return `Let the model write it with \`${recover}\`, or put it aside with \`${recover} --discard\`.`;
    case 'FILE_EXISTS':
    case 'TARGET_CHANGED':
      return 'Add --on-conflict=overwrite to replace it (a backup is kept), or --on-conflict=keep-both to write beside it.';
    // An answer although no question is open.
    case 'USAGE': {
      const copy =
        (session.rescuedText ?? null) === null
          ? `copy it with \`${recover} --out saved.txt\` and cut it yourself`
          : 'cut a copy of the file yourself';
      return `Write all of it with \`${recover} --finalize\`, or ${copy}.`;
    }
    case 'CONTENT_TOO_LARGE':
      return `Continue with \`${goOn ?? recover}\`, or write what is saved with \`${recover} --finalize\`.`;
    case 'NO_DONE':
      return `Finish it with \`${recover}\` or write what is saved with \`--finalize\`.`;
    case 'SEAM_UNVERIFIED':
      return `Continue with \`${recover}\` or write what is saved with \`--finalize\`.`;
    case 'QUESTION_OPEN':
      return `Answer it with \`${recover} --finalize\` and one of the named options.`;
    default:
      return ERROR_CODES[code];
  }
}

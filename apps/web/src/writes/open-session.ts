import type { OpenUpload, UploadStatus } from '@orion/contracts';

export const SESSIONS = '/api/write-sessions';

const WORDS: Readonly<Record<UploadStatus, string>> = {
  open: 'open',
  needs_corrections: 'has invalid text',
  finalizing: 'interrupted while writing the file',
  paused: 'paused',
  in_use: 'live',
  discarded: 'discarded',
  damaged: 'damaged',
  foreign: 'of another version or user',
};

/** Whether a session that no turn of this page writes is live, waits, or cannot be used. */
export function openSessionWords({ status, code }: Pick<OpenUpload, 'status' | 'code'>): string {
  const words = WORDS[status] ?? status;
  return code === undefined ? words : `${words} (${code})`;
}

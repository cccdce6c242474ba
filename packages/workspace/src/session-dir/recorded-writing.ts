/** The outcome of a change that a session recorded before its process died. */
import type { SessionMetadata, WritingOutcome, WritingRecord } from '@orion/contracts';
import { removeTemporary } from '../commit/temporary-notes.ts';
import { toDiskError } from '../disk/disk-error.ts';
import type { SessionStoreOptions } from './session-store-options.ts';

/** Removes the temporary file first, so that the backup shows whether the change was made. */
export async function judgeWriting(
  options: SessionStoreOptions,
  metadata: SessionMetadata,
  writing: WritingRecord,
): Promise<WritingOutcome> {
  await removeTemporaryOf(options, writing);
  let found: string | null | undefined;
  try {
    found = await options.policy.hashOf(writing.target ?? metadata.target.path);
  } catch (error) {
    toDiskError(error, 'read the target');
  }
  if (found === writing.after) return 'after';
  if (writing.stands === true) return 'changed_after';
  if (found === writing.before) return 'before';
  const { backup_id: backupId } = writing.result;
  // Without a backup the outcome is unknown, so nothing is done twice.
  const isMade = backupId === undefined || (await options.backups.provesChange(backupId));
  return isMade ? 'changed_after' : 'changed_instead';
}

export async function removeTemporaryOf(
  { root, backups }: SessionStoreOptions,
  { temp, result }: WritingRecord,
): Promise<void> {
  await removeTemporary(root, backups, { temporary: temp, backupId: result.backup_id });
}

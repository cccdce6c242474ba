import type { RecordedChange } from '@orion/contracts';
import type { ListedBackup } from '../commit/backup-store.ts';
import type { Committer } from '../commit/commit-site.ts';
import { isUnmade } from '../commit/temporary-notes.ts';
import { toDiskError } from '../disk/disk-error.ts';
import { changesOf } from './history.ts';

/**
 * The changes that were made, newest first, each read when it is asked for. A backup is stored before its change is made,
 * and while a person is asked, on whatever host, there is nothing to undo yet.
 */
export async function* madeChanges({
  root,
  backups,
}: Pick<Committer, 'root' | 'backups'>): AsyncGenerator<RecordedChange, void> {
  const made = async function* (ids: readonly string[]): AsyncGenerator<ListedBackup, void> {
    for await (const backup of backups.readEach(ids)) {
      const { temporary } = backup;
      if (temporary === undefined || !(await isUnmade(root, temporary))) yield backup;
    }
  };
  try {
    yield* changesOf(await backups.ids(), made);
  } catch (error) {
    throw toDiskError(error, 'read the backups');
  }
}

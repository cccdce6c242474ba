import type { RecordedChange } from '@orion/contracts';
import type { Committer } from '../commit/commit-site.ts';
import { toDiskError } from '../disk/disk-error.ts';
import { changesOf } from './history.ts';

/**
 * The changes that were made, newest first, each read when it is asked for. A backup is stored before its change is made,
 * and while a person is asked there is nothing to undo yet.
 */
export async function* madeChanges({
  backups,
  notes,
}: Pick<Committer, 'backups' | 'notes'>): AsyncGenerator<RecordedChange, void> {
  try {
    const ids = await backups.ids();
    const unmade = await notes.unmade();
    yield* changesOf(
      ids.filter((id) => !unmade.has(id)),
      (some) => backups.readEach(some),
    );
  } catch (error) {
    throw toDiskError(error, 'read the backups');
  }
}

import type { ListedBackup } from '../commit/backup-store.ts';
import type { Committer } from '../commit/commit-site.ts';

/**
 * The backups of changes that were made, newest first. A backup is stored before its change is made, and while a person
 * is asked there is nothing to undo yet.
 */
export async function listMadeChanges({
  backups,
  notes,
}: Pick<Committer, 'backups' | 'notes'>): Promise<readonly ListedBackup[]> {
  const listed = await backups.list();
  const unmade = await notes.unmade();
  return unmade.size === 0 ? listed : listed.filter(({ id }) => !unmade.has(id));
}

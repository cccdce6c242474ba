/** Derives changes from their backups. Pure. */
import type { RecordedChange, RecordedFile } from '@orion/contracts';
import type { ListedBackup } from '../commit/backup-store.ts';

/** The changes of these backups, both newest first. */
export function changesOf(backups: readonly ListedBackup[]): readonly RecordedChange[] {
  const undone = undoneBackups(backups);
  const changeOf = new Map(backups.map((backup) => [backup.id, idOf(backup)]));
  return [...Map.groupBy(backups, idOf)].map(([changeId, members]) => {
    const files = members.map((backup) => fileOf(backup, undone.has(backup.id)));
    const undoes = members.flatMap((backup) => backup.undoes ?? []);
    return {
      change_id: changeId,
      created_at: members[0]?.created_at ?? '',
      status: files.every((file) => file.undone) ? 'undone' : 'in_effect',
      undoes: [...new Set(undoes.map((id) => changeOf.get(id) ?? id))],
      foreign: members.some((backup) => backup.foreign),
      files,
    };
  });
}

function idOf(backup: ListedBackup): string {
  return backup.change_id ?? backup.id;
}

function fileOf(backup: ListedBackup, undone: boolean): RecordedFile {
  const { id, path, operation, before, after } = backup;
  return { backup_id: id, target_file: path, operation, undone, before, after };
}

/** An undo that was itself undone has no effect. */
function undoneBackups(newestFirst: readonly ListedBackup[]): ReadonlySet<string> {
  const undone = new Set<string>();
  for (const backup of newestFirst) {
    if (undone.has(backup.id)) continue;
    for (const id of backup.undoes ?? []) undone.add(id);
  }
  return undone;
}

/**
 * The change to undo: the given one, or one file of it if a backup is given; by default the latest one in effect that
 * is not an undo and was recorded here.
 */
export function chooseChange(
  changes: readonly RecordedChange[],
  id: string | undefined,
): RecordedChange | null {
  if (id === undefined) {
    const latest = changes.find(
      (change) => change.status === 'in_effect' && change.undoes.length === 0 && !change.foreign,
    );
    return latest ?? null;
  }
  const named = changes.find((change) => change.change_id === id);
  if (named !== undefined) return named;
  for (const change of changes) {
    const files = change.files.filter((file) => file.backup_id === id);
    if (files.length > 0) return { ...change, files };
  }
  return null;
}

/** One file of a change: the state to restore, and the state expected now. */
export type FileStep = {
  readonly path: string;
  readonly before: RecordedFile['before'];
  readonly after: RecordedFile['after'];
  /** The backup with the bytes to restore. */
  readonly contentOf: string;
  readonly backups: readonly string[];
};

/** A file that the change touched several times returns to its state before the first. */
export function stepsOf(change: RecordedChange): readonly FileStep[] {
  const steps = new Map<string, FileStep>();
  for (const file of change.files) {
    const later = steps.get(file.target_file);
    steps.set(file.target_file, {
      path: file.target_file,
      before: file.before,
      after: later === undefined ? file.after : later.after,
      contentOf: file.backup_id,
      backups: [...(later?.backups ?? []), file.backup_id],
    });
  }
  return [...steps.values()];
}

/** Derives changes from their backups. */
import type { RecordedChange, RecordedFile } from '@orion/contracts';
import { oldestOfChange } from '../commit/backup-id.ts';
import type { ListedBackup } from '../commit/backup-store.ts';

/** Reads backups in the order of these ids, and leaves out those that are not there. */
export type ReadBackups = (ids: readonly string[]) => AsyncIterable<ListedBackup>;

type Group = {
  readonly changeId: string;
  readonly members: ListedBackup[];
  /** The position of the last backup that may belong to it. */
  readonly oldest: number;
};

/**
 * The changes of these backups, both newest first. Reads no further than the oldest backup of the change that is asked
 * for. An undo that was itself undone has no effect.
 */
export async function* changesOf(
  ids: readonly string[],
  read: ReadBackups,
): AsyncGenerator<RecordedChange, void> {
  const oldestOf = oldestOfChange(ids);
  const positions = new Map(ids.map((id, position) => [id, position]));
  const undone = new Set<string>();
  const groups = new Map<string, Group>();
  const toChange = async ({ changeId, members }: Group): Promise<RecordedChange> => {
    const files = members.map((backup) => fileOf(backup, undone.has(backup.id)));
    return {
      change_id: changeId,
      created_at: members[0]?.created_at ?? '',
      status: files.every((file) => file.undone) ? 'undone' : 'in_effect',
      undoes: await changesOfBackups(members.flatMap((backup) => backup.undoes ?? [])),
      foreign: members.some((backup) => backup.foreign),
      files,
    };
  };
  // A manifest that came with a folder may name any backups: each is looked up once, and only if it is there.
  const unknown = new Set(ids);
  const changeOf = new Map<string, string>();
  const changesOfBackups = async (backups: readonly string[]): Promise<readonly string[]> => {
    const asked = backups.filter((id) => unknown.delete(id));
    for await (const backup of read(asked)) changeOf.set(backup.id, idOf(backup));
    return [...new Set(backups.map((id) => changeOf.get(id) ?? id))];
  };
  for await (const backup of read(ids)) {
    if (!undone.has(backup.id)) for (const id of backup.undoes ?? []) undone.add(id);
    const changeId = idOf(backup);
    const position = positions.get(backup.id) ?? 0;
    const group = groups.get(changeId);
    if (group === undefined)
      groups.set(changeId, {
        changeId,
        members: [backup],
        oldest: oldestOf(position, backup.change_id),
      });
    else group.members.push(backup);
    for (const each of groups.values()) {
      if (position < each.oldest) break;
      groups.delete(each.changeId);
      yield await toChange(each);
    }
  }
  for (const group of groups.values()) yield await toChange(group);
}

function idOf(backup: ListedBackup): string {
  return backup.change_id ?? backup.id;
}

function fileOf(backup: ListedBackup, undone: boolean): RecordedFile {
  const { id, path, operation, before, after } = backup;
  return { backup_id: id, target_file: path, operation, undone, before, after };
}

/**
 * The latest change that is in effect, is not an undo and was recorded here. One that somebody has taken back by hand
 * is passed over, unless there is no other.
 */
export async function latestChange(
  changes: AsyncIterable<RecordedChange>,
  isAsBefore: (step: FileStep) => Promise<boolean>,
): Promise<RecordedChange | null> {
  let latest: RecordedChange | null = null;
  for await (const change of changes) {
    if (change.status !== 'in_effect' || change.undoes.length > 0 || change.foreign) continue;
    for (const step of stepsOf(change)) {
      // What cannot be read now is in effect until somebody has looked.
      if (!(await isAsBefore(step).catch(() => false))) return change;
    }
    latest ??= change;
  }
  return latest;
}

/** The change with this id, or one file of it if it is the id of a backup. */
export async function chooseChange(
  changes: AsyncIterable<RecordedChange>,
  id: string,
): Promise<RecordedChange | null> {
  for await (const change of changes) {
    if (change.change_id === id) return change;
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

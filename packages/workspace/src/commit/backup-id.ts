/**
 * The names of backups, which tell what needs no look into them.
 *
 * 1. The order of the ids is the order in which backups were made on one host.
 * 2. The mark of a backup follows from its change. Other changes may have the same one, so that only its manifest says
 *    whose backup it is.
 */
import { createHash, randomBytes } from 'node:crypto';

/** Time, something random, and the mark of the change; backups of earlier versions have no mark. */
const BACKUP_ID =
  /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z-[0-9a-f]{8}([0-9a-f]{8})?$/u;
const MARK = 8;
const DRAFT_PREFIX = '.draft-';

export function isBackupId(text: string): boolean {
  return BACKUP_ID.test(text);
}

/** @param createdAt ISO-8601, UTC */
export function newBackupId(createdAt: string, changeId: string | undefined): string {
  const random = randomBytes(4).toString('hex');
  const mark = changeId === undefined ? randomBytes(4).toString('hex') : markOf(changeId);
  return `${createdAt.replace(/[-:.]/gu, '')}-${random}${mark}`;
}

/** Tells by its id whether a backup may be of a change; its manifest says whether it is. */
export function mayBeOfChange(changeId: string): (id: string) => boolean {
  const wanted = markOf(changeId);
  return (id) => {
    const mark = markIn(id);
    return mark === undefined || mark === wanted;
  };
}

/**
 * Where the oldest backup is that may belong to the change of another one.
 *
 * @param ids newest first; that other one is among them
 */
export function oldestOfChange(
  ids: readonly string[],
): (position: number, changeId: string | undefined) => number {
  const oldest = new Map(ids.map((id, position) => [markIn(id), position]));
  const oldestWithoutMark = oldest.get(undefined) ?? -1;
  return (position, changeId) =>
    changeId === undefined
      ? position
      : Math.max(oldest.get(markOf(changeId)) ?? position, oldestWithoutMark);
}

/** The same for backups of one change, and with rare exceptions for these alone. */
export function changeMark(id: string): string {
  return markIn(id) ?? id;
}

function markIn(id: string): string | undefined {
  return BACKUP_ID.exec(id)?.[MARK];
}

function markOf(changeId: string): string {
  return createHash('sha256').update(changeId).digest('hex').slice(0, 8);
}

/** When the backup with this id was made, in milliseconds since the epoch; 0 if its id has no such time. */
export function timeOfBackup(id: string): number {
  return Date.parse(id.replace(BACKUP_ID, '$1-$2-$3T$4:$5:$6.$7Z')) || 0;
}

export function newestFirst(ids: Iterable<string>): readonly string[] {
  return [...new Set(ids)].toSorted().toReversed();
}

/** The name of a backup that is not finished. */
export function draftOf(id: string): string {
  return DRAFT_PREFIX + id;
}

export function isDraft(name: string): boolean {
  return name.startsWith(DRAFT_PREFIX);
}

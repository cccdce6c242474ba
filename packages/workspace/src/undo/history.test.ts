/** Hazard: a change that is derived from a part of its backups, or from more of them than it needs. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newBackupId } from '../commit/backup-id.ts';
import type { ListedBackup } from '../commit/backup-store.ts';
import { changesOf } from './history.ts';

const MINUTE = 60_000;

function backup(
  minute: number,
  changeId: string | undefined,
  { undoes, isEarlier = false }: { undoes?: readonly string[]; isEarlier?: boolean } = {},
): ListedBackup {
  const created_at = new Date(minute * MINUTE).toISOString();
  const id = newBackupId(created_at, changeId);
  return {
    version: 1,
    // As an earlier version named it.
    id: isEarlier ? id.slice(0, -8) : id,
    path: `${minute}.txt`,
    operation: undoes === undefined ? 'overwrite' : 'undo',
    created_at,
    ...(changeId === undefined ? {} : { change_id: changeId }),
    ...(undoes === undefined ? {} : { undoes }),
    before: null,
    after: null,
    own: true,
    foreign: false,
  };
}

/** The changes of these backups, which are given oldest first, and how many backups were read until each came. */
async function changesIn(backups: readonly ListedBackup[]) {
  const byId = new Map(backups.map((each) => [each.id, each]));
  let read = 0;
  async function* readEach(ids: readonly string[]) {
    for (const id of ids) {
      const found = byId.get(id);
      if (found === undefined) continue;
      read += 1;
      yield await Promise.resolve(found);
    }
  }
  const found = [];
  for await (const change of changesOf(backups.map(({ id }) => id).toReversed(), readEach))
    found.push({ ...change, read });
  return found;
}

it('a change comes once its oldest backup was read, and those behind it are not', async () => {
  const changes = await changesIn([
    backup(1, 'old'),
    backup(2, 'plan'),
    backup(3, 'beside'),
    backup(4, 'plan'),
    backup(5, undefined),
    backup(6, 'new'),
  ]);
  expect(changes.map(({ change_id, read }) => [change_id.slice(0, 6), read])).toEqual([
    ['new', 1],
    ['197001', 2],
    ['plan', 5],
    ['beside', 5],
    ['old', 6],
  ]);
  expect(changes[2]?.files.map(({ target_file }) => target_file)).toEqual(['4.txt', '2.txt']);
});

it('where there are backups of an earlier version, any of them may belong to a change', async () => {
  const changes = await changesIn([
    backup(1, 'older', { isEarlier: true }),
    backup(2, 'plan', { isEarlier: true }),
    backup(3, 'plan'),
    backup(4, 'new'),
  ]);
  expect(changes.map(({ change_id, files }) => [change_id, files.length])).toEqual([
    ['new', 1],
    ['plan', 2],
    ['older', 1],
  ]);
});

it('an undo that was undone has no effect, and an undo names the changes of its backups', async () => {
  const first = backup(1, 'first');
  const second = backup(2, 'second');
  const undo = backup(3, 'undo', { undoes: [first.id, second.id, 'gone'] });
  const redo = backup(4, 'redo', { undoes: [undo.id] });
  const stateOf = async (backups: readonly ListedBackup[]) =>
    (await changesIn(backups)).map(({ change_id, status, undoes }) => [change_id, status, undoes]);
  expect(await stateOf([first, second, undo])).toEqual([
    ['undo', 'in_effect', ['first', 'second', 'gone']],
    ['second', 'undone', []],
    ['first', 'undone', []],
  ]);
  expect(await stateOf([first, second, undo, redo])).toEqual([
    ['redo', 'in_effect', ['undo']],
    ['undo', 'undone', ['first', 'second', 'gone']],
    ['second', 'in_effect', []],
    ['first', 'in_effect', []],
  ]);
});

it('undos that name thousands of backups, and others that are not there, have each read twice at most', async () => {
  const changes = Array.from({ length: 100 }, (_, minute) => backup(minute, `change ${minute}`));
  const made = changes.map(({ id }) => id);
  const undoes = [...made, ...made, ...made.map((id) => id.replace('Z-', 'Z-0'))];
  const undos = changes.map((_, index) => backup(100 + index, `undo ${index}`, { undoes }));
  const listed = await changesIn([...changes, ...undos]);
  expect(listed).toHaveLength(200);
  expect(listed.at(-1)?.read).toBeLessThanOrEqual(2 * 200);
});

it('whatever was changed in which order, each change has all of its files, newest first', async () => {
  const given = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', undefined), fc.boolean()), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(given, async (list) => {
      const backups = list.map(([changeId, isEarlier], minute) =>
        backup(minute, changeId, { isEarlier }),
      );
      const expected = Map.groupBy(
        backups.toReversed(),
        ({ id, change_id: changeId }) => changeId ?? id,
      );
      const changes = await changesIn(backups);
      expect(
        changes.map(({ change_id, files }) => [change_id, files.map(({ backup_id }) => backup_id)]),
      ).toEqual(
        [...expected].map(([changeId, members]) => [changeId, members.map(({ id }) => id)]),
      );
    }),
  );
});

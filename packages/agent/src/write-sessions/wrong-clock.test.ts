import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Workspace } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { openStore } from '@orion/trace-store';
import { createWorkspace } from '@orion/workspace';
import { expect, onTestFinished, test } from 'vitest';

import { sharedStateOf } from '../config/sessions-in-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: a host whose clock is wrong drops backups of all hosts, makes some that all others drop, or misleads an undo. */

const own = useTestDatabase();
const DAY = 24 * 60 * 60 * 1_000;

type Host = { readonly workspace: Workspace; readonly stored: () => Promise<readonly string[]> };

async function openHost(root: string, offset: number): Promise<Host> {
  const clock = createFakeClock(Date.now() + offset);
  const store = openStore({ kind: 'postgres', url: own.url() }, { clock });
  const stateDirectory = await mkdtemp(join(tmpdir(), 'orion-host-'));
  const shared = sharedStateOf(store);
  const workspace = await createWorkspace({ root, clock, stateDirectory, shared });
  onTestFinished(async () => {
    await workspace.close();
    await store.close();
    await rm(stateDirectory, { recursive: true, force: true });
  });
  const stored = async (): Promise<readonly string[]> =>
    ((await store.sharedRecords?.names({ root, kind: 'backup' })) ?? []).toSorted();
  return { workspace, stored };
}

async function change(workspace: Workspace, text: string): Promise<string> {
  const expected = await workspace.checkTarget('a.txt', 'overwrite');
  async function* source() {
    yield Buffer.from(text);
  }
  const { backup_id: id = '' } = await workspace.commit({
    target: 'a.txt',
    operation: 'overwrite',
    expected,
    eol: 'as-is',
    parts: [{ kind: 'new', source }],
    journal: async () => undefined,
  });
  return id;
}

const WRONG = [
  ['ahead', 31 * DAY],
  ['behind', -31 * DAY],
] as const;

/** Of a host with the right time and one with another, which changed the file by turns, and the backups of that. */
async function openChanged(offset: number) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-hosts-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'a.txt'), '0');
  const { workspace: right, stored } = await openHost(root, 0);
  const { workspace: wrong } = await openHost(root, offset);
  const ids = [
    await change(right, '1'),
    await change(wrong, '2'),
    await change(right, '3'),
    await change(wrong, '4'),
  ];
  return { right, wrong, ids, stored, text: () => readFile(join(root, 'a.txt'), 'utf8') };
}

test.each(WRONG)(
  'a host whose clock is %s drops nothing, and nothing of it is dropped',
  async (_, offset) => {
    const { right, wrong, ids, stored, text } = await openChanged(offset);
    for (const { sessions } of [wrong, right]) await sessions.housekeep();
    expect(await stored()).toEqual(ids.toSorted());

    // By the store's clock three of them are old; the newest one stays.
    await own.execute(
      `update shared_record set stored_at = stored_at - ${30 * DAY} where name <> '${ids[3]}'`,
    );
    await right.sessions.housekeep();
    expect(await stored()).toEqual([ids[3]]);
    expect(await text()).toBe('4');
  },
);

test.each(WRONG)(
  'an undo takes back the last change also where a clock is %s',
  async (_, offset) => {
    const { right, wrong, ids, text } = await openChanged(offset);
    for (const host of [right, wrong]) {
      const changes = await Array.fromAsync(host.changes());
      expect(changes.map(({ change_id: id }) => id)).toEqual(ids.toReversed());
    }
    await right.undo({});
    await wrong.undo({});
    await right.undo({});
    expect(await text()).toBe('1');
  },
);

test('what is on the disk of a host alone stands among the others by its time', async () => {
  const { right, ids } = await openChanged(0);
  const alone = '20200101T000000000Z-0123456789abcdef';
  const [first = ''] = ids;
  const backups = join(right.stateDirectory, 'backups');
  const manifest = await readFile(join(backups, first, 'manifest.json'), 'utf8');
  for (const id of [alone, alone.replace('2020', '2999')]) {
    await mkdir(join(backups, id));
    const text = JSON.stringify({ ...(JSON.parse(manifest) as object), id });
    await writeFile(join(backups, id, 'manifest.json'), text);
  }
  const changes = await Array.fromAsync(right.changes());
  expect(changes.map(({ change_id: id }) => id)).toEqual([
    alone.replace('2020', '2999'),
    ...ids.toReversed(),
    alone,
  ]);
});

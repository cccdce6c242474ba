/** Hazard: a repository that brings so many sessions that a start takes long over them (issue 12). */
import { randomUUID } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it, onTestFinished } from 'vitest';
import {
  metadataFor,
  openTestWorkspace,
  temporaryDirectory,
  textOf,
  releasedSession,
} from '../testing/temp-workspace.ts';
import type { TestWorkspace } from '../testing/temp-workspace.ts';

const OLD = '2020-01-01T00:00:00.000Z';

async function open(): Promise<TestWorkspace> {
  return openTestWorkspace({ userKeyDirectory: await temporaryDirectory() });
}

/** The id of a session that this user can go on with. */
async function own(test: TestWorkspace): Promise<string> {
  const { id } = await releasedSession(test.workspace, 'own.txt', 'mine\n');
  return id;
}

/** One directory with every file of a session, none of them of this user; its id. */
async function plant(test: TestWorkspace, kind: 'foreign' | 'damaged'): Promise<string> {
  const metadata = { ...(await metadataFor(test.workspace, 'b.txt')), created_at: OLD };
  const id = kind === 'foreign' ? metadata.session_id : randomUUID();
  const directory = join(test.root, '.orion/logs/write_sessions', id);
  mkdirSync(directory, { recursive: true });
  const files = {
    'metadata.json': kind === 'foreign' ? JSON.stringify(metadata) : '{"version":1,"session_',
    'content.txt': 'pwned\n',
    'pending.txt': 'x',
    'state.json': `{"version":1,"buffer_size":6,"line_count":1,"last_save":"${OLD}","content_file":"content.txt"}`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  utimesSync(join(directory, 'content.txt'), new Date(OLD), new Date(OLD));
  return id;
}

/** What a start does before its turn; the calls to the disk that it makes below the planted directories. */
async function start(test: TestWorkspace, planted: ReadonlySet<string>) {
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  const calls: string[] = [];
  disk.use(({ name, path }) => {
    const id = path.split('/').find((part) => planted.has(part));
    if (id !== undefined) calls.push(`${name} ${path.slice(path.indexOf(id) + 37)}`.trimEnd());
    return null;
  });
  const { moved } = await test.workspace.sessions.housekeep();
  const offered = await test.workspace.sessions.list('recoverable');
  disk.restore();
  return { moved, offered: offered.map((session) => session.session_id), calls };
}

it('looks once at one of another user, at nothing but its metadata, and offers the own one', async () => {
  const test = await open();
  const id = await own(test);
  const planted = new Set<string>();
  for (let count = 0; count < 40; count += 1) planted.add(await plant(test, 'foreign'));
  const { moved, offered, calls } = await start(test, planted);
  expect(moved).toEqual([]);
  expect(offered).toEqual([id]);
  expect(calls.toSorted()).toEqual(
    ['close', 'fstat', 'lstat', 'open', 'read'].flatMap((name) =>
      Array.from({ length: 40 }, () => (name === 'lstat' ? name : `${name} metadata.json`)),
    ),
  );
  const listed = await test.workspace.sessions.list();
  expect(listed.map((session) => session.session_id).toSorted()).toEqual(
    [id, ...planted].toSorted(),
  );
  expect(listed.filter(({ status, lines }) => status === 'foreign' && lines === 1)).toHaveLength(
    40,
  );
  const claimed = await test.workspace.sessions.claim(id);
  expect(await textOf(claimed.handle.readContent())).toBe('mine\n');
});

it('inspects a damaged one once, and puts no more than 100 of them aside at a start', async () => {
  const test = await open();
  const id = await own(test);
  const planted = new Set<string>();
  for (let count = 0; count < 102; count += 1) planted.add(await plant(test, 'damaged'));
  const { moved, offered, calls } = await start(test, planted);
  expect(moved).toHaveLength(100);
  expect(offered).toEqual([id]);
  expect(calls.filter((call) => call === 'open metadata.json')).toHaveLength(102);
  expect((await test.workspace.sessions.housekeep()).moved).toHaveLength(2);
  const listed = await test.workspace.sessions.list();
  expect(listed.map((session) => session.session_id)).toEqual([id]);
});

it('puts all of them aside when a person says so', async () => {
  const test = await open();
  const planted = new Set<string>();
  for (let count = 0; count < 102; count += 1) planted.add(await plant(test, 'damaged'));
  expect((await test.workspace.sessions.clean({ all: false })).moved).toHaveLength(102);
});

it('offers one again whose metadata the disk refused to tell before', async () => {
  const test = await open();
  const id = await own(test);
  const disk = await interceptDisk();
  onTestFinished(() => disk.restore());
  disk.use(({ name, path }) =>
    name === 'open' && basename(path) === 'metadata.json'
      ? { kind: 'error', code: 'EMFILE' }
      : null,
  );
  expect(await test.workspace.sessions.list('recoverable')).toEqual([]);
  disk.restore();
  expect(await test.workspace.sessions.list('recoverable')).toMatchObject([{ session_id: id }]);
});

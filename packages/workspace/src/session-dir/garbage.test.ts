/** Reliability A11: one broken session among many hides no other, and nothing strange is touched. */
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  codeOf,
  openTestWorkspace,
  RECORD,
  temporaryDirectory,
  textOf,
  releasedSession,
} from '../testing/temp-workspace.ts';

// Many syncs take their time on a machine that does much else.
vi.setConfig({ testTimeout: 120_000 });

const GARBAGE: readonly (readonly [string, string | Buffer])[] = [
  ['empty', ''],
  ['cut', '{"version":1,"session_'],
  ['null', 'null'],
  ['a list', '[1,2,3]'],
  ['wrong types', '{"version":1,"session_id":5,"buffer_size":"many","line_count":-1}'],
  ['NUL bytes', Buffer.alloc(4096)],
  ['deep', '['.repeat(100_000)],
  ['10 MB', Buffer.alloc(10 * 1024 * 1024, 0x20)],
];

describe.each(GARBAGE)('%s', (_name, bytes) => {
  it('as metadata.json is damaged, never recovered, and its text can be read', async () => {
    const test = await openTestWorkspace();
    const { directory } = await releasedSession(test.workspace);
    await writeFile(join(directory, 'metadata.json'), bytes);
    const [listing] = await test.workspace.sessions.list();
    expect(listing).toMatchObject({ status: 'damaged', target_file: null, recoverable: false });
    const id = listing?.session_id ?? '';
    expect(await codeOf(test.workspace.sessions.claim(id))).toBe('SESSION_DAMAGED');
    expect(await textOf(test.workspace.sessions.readContent(id))).toBe('text\n');
  });

  it('as state.json is rebuilt from the content', async () => {
    const test = await openTestWorkspace();
    const { directory } = await releasedSession(test.workspace);
    await writeFile(join(directory, 'state.json'), bytes);
    const [listing] = await test.workspace.sessions.list();
    expect(listing).toMatchObject({ status: 'orphan', bytes: 5, lines: 1, state: null });
    const claimed = await test.workspace.sessions.claim(listing?.session_id ?? '');
    expect(claimed.record).toBeNull();
    expect(claimed.notes.join()).toContain('rebuilt');
    expect((await claimed.handle.save(RECORD)).durableBytes).toBe(5);
  });

  it('as lease.json belongs to nobody after its time', async () => {
    const test = await openTestWorkspace();
    const { directory } = await releasedSession(test.workspace);
    await writeFile(join(directory, 'lease.json'), bytes);
    test.clock.jump(60_000);
    const [listing] = await test.workspace.sessions.list();
    expect(listing?.status).toBe('orphan');
    const claimed = await test.workspace.sessions.claim(listing?.session_id ?? '');
    expect(await textOf(claimed.handle.readContent())).toBe('text\n');
    expect((await test.workspace.sessions.list())[0]?.status).toBe('live');
  });

  it('as turn.json is no turn', async () => {
    const test = await openTestWorkspace();
    const { directory } = await releasedSession(test.workspace);
    await writeFile(join(directory, 'turn.json'), bytes);
    const [listing] = await test.workspace.sessions.list();
    const claimed = await test.workspace.sessions.claim(listing?.session_id ?? '');
    expect(claimed.turn).toBeNull();
  });
});

it('a newer version is left alone', async () => {
  const test = await openTestWorkspace();
  const { directory } = await releasedSession(test.workspace);
  const path = join(directory, 'state.json');
  const state = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...state, version: 2 }));
  expect((await test.workspace.sessions.list())[0]?.status).toBe('damaged');
});

it.each([
  ['a cut code point', Buffer.from('ok\n\xf0\x9f\x98', 'latin1'), 'ok\n'],
  ['the first byte of one', Buffer.from('ok\n\xe2', 'latin1'), 'ok\n'],
  ['a lone surrogate, kept', Buffer.from('ok\n\xed\xa0\xbd', 'latin1'), null],
])('%s at the end of the content', async (_name, bytes, expected) => {
  const test = await openTestWorkspace();
  const { directory } = await releasedSession(test.workspace);
  await writeFile(join(directory, 'content.txt'), bytes);
  const [listing] = await test.workspace.sessions.list();
  const claimed = await test.workspace.sessions.claim(listing?.session_id ?? '');
  expect(claimed.handle.bytes()).toBe(expected === null ? bytes.length : expected.length);
  expect(claimed.notes.length).toBe(expected === null ? 0 : 1);
});

it('zeros that a power cut left behind the durable bytes are no text', async () => {
  const test = await openTestWorkspace();
  const { directory } = await releasedSession(test.workspace);
  await writeFile(
    join(directory, 'content.txt'),
    Buffer.concat([Buffer.from('text\nmo'), Buffer.alloc(500)]),
  );
  const lease = JSON.parse(await readFile(join(directory, 'lease.json'), 'utf8')) as object;
  await writeFile(
    join(directory, 'lease.json'),
    JSON.stringify({ ...lease, process_started_at: 'earlier-boot:7' }),
  );
  const [listing] = await test.workspace.sessions.list();
  const claimed = await test.workspace.sessions.claim(listing?.session_id ?? '');
  expect(await textOf(claimed.handle.readContent())).toBe('text\nmo');
});

it('a missing content file is an empty text', async () => {
  const test = await openTestWorkspace();
  const { directory } = await releasedSession(test.workspace);
  const { rm } = await import('node:fs/promises');
  await rm(join(directory, 'content.txt'));
  const [listing] = await test.workspace.sessions.list();
  const claimed = await test.workspace.sessions.claim(listing?.session_id ?? '');
  expect(claimed.handle.bytes()).toBe(0);
  claimed.handle.append('new');
  await claimed.handle.save(RECORD);
  expect(await textOf(claimed.handle.readContent())).toBe('new');
});

it('a successor that was not named yet is found', async () => {
  const test = await openTestWorkspace();
  const { directory } = await releasedSession(test.workspace);
  writeFileSync(join(directory, 'content.2.txt'), 'text\nand more\n');
  expect((await test.workspace.sessions.list())[0]).toMatchObject({ bytes: 14, lines: 2 });
  writeFileSync(join(directory, 'content.3.txt'), 'te');
  const [listing] = await test.workspace.sessions.list();
  const claimed = await test.workspace.sessions.claim(listing?.session_id ?? '');
  expect(await textOf(claimed.handle.readContent())).toBe('text\nand more\n');
});

it('names that are not ours stay, links are not followed, and the others are listed', async () => {
  const test = await openTestWorkspace();
  const outside = await temporaryDirectory();
  writeFileSync(join(outside, 'content.txt'), 'not ours');
  for (let index = 0; index < 40; index += 1)
    await releasedSession(test.workspace, `f${index}.txt`);
  const sessions = join(test.root, '.orion/logs/write_sessions');
  const link = randomUUID();
  symlinkSync(outside, join(sessions, link));
  writeFileSync(join(sessions, randomUUID()), 'a file');
  mkdirSync(join(sessions, 'notes'));
  writeFileSync(join(sessions, 'notes/mine.txt'), 'mine');
  mkdirSync(join(sessions, randomUUID()));
  const { directory: inner } = await releasedSession(test.workspace, 'linked.txt');
  const { rm } = await import('node:fs/promises');
  await rm(join(inner, 'content.txt'));
  symlinkSync(join(outside, 'content.txt'), join(inner, 'content.txt'));

  const listings = await test.workspace.sessions.list();
  expect(listings.filter((listing) => listing.status === 'orphan')).toHaveLength(41);
  expect(listings.filter((listing) => listing.status === 'damaged')).toHaveLength(1);
  expect(listings.find((listing) => listing.target_file === 'linked.txt')?.bytes).toBe(0);

  test.clock.jump(2 * 3_600_000);
  const report = await test.workspace.sessions.housekeep();
  expect(report.moved).toHaveLength(42);
  expect(await test.workspace.sessions.list()).toEqual([]);
  expect(existsSync(join(sessions, link))).toBe(true);
  expect(existsSync(join(sessions, 'notes/mine.txt'))).toBe(true);
  expect(readdirSync(outside)).toEqual(['content.txt']);
  expect(await readFile(join(outside, 'content.txt'), 'utf8')).toBe('not ours');
});

it(
  'A11: of a thousand sessions one is broken, and the other 999 are listed',
  { tags: ['long'] },
  async () => {
    const test = await openTestWorkspace();
    const { directory } = await releasedSession(test.workspace, 'f0.txt');
    const sessions = join(test.root, '.orion/logs/write_sessions');
    const first = basename(directory);
    const ids = [first, ...Array.from({ length: 999 }, () => randomUUID())];
    const metadata = await readFile(join(directory, 'metadata.json'), 'utf8');
    for (const id of ids.slice(1)) {
      cpSync(directory, join(sessions, id), { recursive: true });
      writeFileSync(join(sessions, id, 'metadata.json'), metadata.replaceAll(first, id));
    }
    const broken = ids[500] ?? '';
    writeFileSync(join(sessions, broken, 'metadata.json'), '{"version":1,"session_');
    const listings = await test.workspace.sessions.list();
    expect(listings).toHaveLength(1_000);
    const orphans = listings.filter(({ status }) => status === 'orphan');
    expect(orphans.map((listing) => listing.session_id).toSorted()).toEqual(
      ids.filter((id) => id !== broken).toSorted(),
    );
    expect(orphans.every(({ lines, bytes }) => lines === 1 && bytes === 5)).toBe(true);
    expect(listings.find(({ session_id: id }) => id === broken)?.status).toBe('damaged');
    const claimed = await test.workspace.sessions.claim(ids.at(-1) ?? '');
    expect(await textOf(claimed.handle.readContent())).toBe('text\n');
  },
);

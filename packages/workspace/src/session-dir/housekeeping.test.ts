import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expired } from '../retention/retention.ts';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  temporaryDirectory,
  textOf,
  writingRecord,
  beginSession,
  releasedSession,
} from '../testing/temp-workspace.ts';
import { ageOf } from './inspect-session.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('the age of a session (R062, R070)', () => {
  const now = 10 * HOUR;
  const at = (time: number): string => new Date(time).toISOString();
  it.each([
    ['the latest sign counts', at(1), at(5 * HOUR), at(2), 3, 5 * HOUR],
    ['the content counts', at(1), undefined, at(2), 9 * HOUR, HOUR],
    ['the future is no age', at(11 * HOUR), undefined, undefined, undefined, 0],
    ['nonsense does not count', 'never', 'x', at(9 * HOUR), undefined, HOUR],
    ['the directory is the last resort', undefined, undefined, undefined, undefined, 2 * HOUR],
  ])('%s', (_name, lastSave, heartbeat, createdAt, contentModifiedAt, age) => {
    const directoryModifiedAt = 8 * HOUR;
    expect(
      ageOf(now, { lastSave, heartbeat, createdAt, contentModifiedAt, directoryModifiedAt }),
    ).toBe(age);
  });

  it.each([
    [-1, true],
    [0, false],
    [1, false],
  ])('at one hour and %d ms', async (offset, recoverable) => {
    const test = await openTestWorkspace();
    await releasedSession(test.workspace);
    // Past the moment at which the real files were written, which the fake clock knows nothing of.
    test.clock.jump(60_000);
    const [fresh] = await test.workspace.sessions.list();
    test.clock.jump(HOUR - (fresh?.age_ms ?? 0) + offset);
    const [listing] = await test.workspace.sessions.list();
    expect(listing).toMatchObject({ age_ms: HOUR + offset, recoverable });
    const { moved } = await test.workspace.sessions.housekeep();
    expect(moved).toHaveLength(recoverable ? 0 : 1);
  });
});

describe('housekeeping', () => {
  it('moves old orphans to the attic, with a trace each, and frees their targets', async () => {
    const test = await openTestWorkspace();
    const { id } = await releasedSession(test.workspace, 'a.txt', 'one\ntwo\n');
    test.clock.jump(2 * HOUR);
    const report = await test.workspace.sessions.housekeep();
    expect(report).toEqual({
      moved: [{ session_id: id, target_file: 'a.txt', bytes: 8, lines: 2 }],
      bytes: 8,
      locks: 0,
    });
    expect(test.events).toEqual([
      { type: 'cleaned', details: { session_id: id, target_file: 'a.txt', bytes: 8, lines: 2 } },
    ]);
    expect(readdirSync(join(test.root, '.orion/locks'))).toEqual([]);
    expect(await textOf(test.workspace.sessions.readContent(id))).toBe('one\ntwo\n');
  });

  it('keeps what is in the attic for 30 days and not longer', async () => {
    const test = await openTestWorkspace();
    const { id } = await releasedSession(test.workspace);
    test.clock.jump(2 * HOUR);
    await test.workspace.sessions.housekeep();
    test.clock.jump(30 * DAY - 1000);
    await test.workspace.sessions.housekeep();
    expect(existsSync(join(test.root, '.orion/attic', id))).toBe(true);
    test.clock.jump(2000);
    await test.workspace.sessions.housekeep();
    expect(existsSync(join(test.root, '.orion/attic', id))).toBe(false);
    expect(await codeOf(test.workspace.sessions.claim(id))).toBe('SESSION_NOT_FOUND');
  });

  it('drops the oldest beyond the quota', async () => {
    const test = await openTestWorkspace({ settings: { atticMaxBytes: 12_000 } });
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { id } = await releasedSession(test.workspace, name, 'x'.repeat(5_000));
      await test.workspace.sessions.discard(id);
      ids.push(id);
      test.clock.jump(1_000);
    }
    await test.workspace.sessions.housekeep();
    const left = readdirSync(join(test.root, '.orion/attic'));
    expect(left).not.toContain(ids[0]);
    expect(left).toContain(ids[2]);
  });

  it('cleans the young ones only when asked for all, and never a live one', async () => {
    const test = await openTestWorkspace();
    await releasedSession(test.workspace);
    const live = await beginSession(test.workspace, 'b.txt');
    expect((await test.workspace.sessions.clean({ all: false })).moved).toEqual([]);
    expect((await test.workspace.sessions.clean({ all: true })).moved).toHaveLength(1);
    expect(await test.workspace.sessions.list()).toMatchObject([{ session_id: live.id }]);
  });

  it('removes temporary files that dead processes left, and only those', async () => {
    const test = await openTestWorkspace();
    const { workspace, root } = test;
    const handle = await beginSession(workspace);
    const temp = '.orion-00000000deadbeef.tmp';
    await handle.recordWriting(writingRecord('x', temp));
    await handle.release();
    writeFileSync(join(root, temp), 'half');
    writeFileSync(join(root, '.orion-0000000000000001.tmp'), 'of nobody known');
    writeFileSync(join(root, 'precious.txt'), 'mine');
    const other = await beginSession(workspace, 'b.txt');
    await other.recordWriting(writingRecord('x', 'precious.txt'));
    await other.release();
    await workspace.sessions.housekeep();
    expect(readdirSync(root).toSorted()).toEqual([
      '.orion',
      '.orion-0000000000000001.tmp',
      'precious.txt',
    ]);
  });

  it('keeps the backups within their limits, and the newest in any case', async () => {
    const test = await openTestWorkspace({ settings: { backupsMaxBytes: 2_500 } });
    await writeFile(join(test.root, 'a.txt'), 'x'.repeat(1_000));
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      test.clock.jump(1_000);
      const expected = await test.workspace.checkTarget('a.txt', 'overwrite');
      const text = String(round).repeat(1_000);
      const result = await test.workspace.commit(commitRequest('overwrite', expected, text));
      ids.push(result.backup_id ?? '');
    }
    expect(readdirSync(join(test.root, '.orion/backups')).toSorted()).toEqual(ids.slice(2));
    test.clock.jump(60 * DAY);
    await test.workspace.sessions.housekeep();
    expect(readdirSync(join(test.root, '.orion/backups'))).toEqual(ids.slice(3));
  });
});

describe('expired', () => {
  const entry = (
    name: string,
    since: number,
    bytes: number,
  ): {
    name: string;
    since: number;
    bytes: number;
  } => ({ name, since, bytes });
  const limits = { maxAgeMs: 100, maxBytes: 10 };

  it('drops by age, then the oldest by size, never the newest by size', () => {
    expect(expired([], limits, 0)).toEqual([]);
    expect(expired([entry('old', 0, 1), entry('new', 50, 1)], limits, 100)).toEqual(['old']);
    expect(expired([entry('a', 1, 6), entry('b', 2, 6), entry('c', 3, 4)], limits, 4)).toEqual([
      'a',
    ]);
    expect(expired([entry('huge', 1, 1_000)], limits, 2)).toEqual([]);
  });

  it('keeps nothing that is older than what it drops', () => {
    const entries = [entry('a', 1, 0), entry('b', 2, 1), entry('c', 3, 9), entry('d', 4, 2)];
    expect(expired(entries, limits, 5)).toEqual(['c', 'b', 'a']);
  });
});

describe('foreign sessions', () => {
  it('are listed, readable, and never recovered or cleaned by themselves', async () => {
    const userKeyDirectory = join(await temporaryDirectory(), 'keys');
    const test = await openTestWorkspace({ userKeyDirectory });
    const { id } = await releasedSession(test.workspace);
    expect((await test.workspace.sessions.list())[0]?.status).toBe('orphan');

    const stranger = await test.again({ userKeyDirectory: await temporaryDirectory() });
    expect((await stranger.sessions.list())[0]).toMatchObject({
      status: 'foreign',
      recoverable: false,
      code: 'SESSION_FOREIGN',
    });
    expect(await codeOf(stranger.sessions.claim(id))).toBe('SESSION_FOREIGN');
    expect((await stranger.sessions.clean({ all: true })).moved).toEqual([]);
    expect(await textOf(stranger.sessions.readContent(id))).toBe('text\n');

    const claimed = await test.workspace.sessions.claim(id);
    await claimed.handle.release();
    const { readFile } = await import('node:fs/promises');
    const path = join(claimed.handle.directory, 'metadata.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"a.txt"', '"b.txt"'));
    expect(await codeOf(test.workspace.sessions.claim(id))).toBe('SESSION_FOREIGN');
  });
});

describe('notes of temporary files', () => {
  it('that a kill cut short go once they are old, and not before', async () => {
    const { root, workspace, clock } = await openTestWorkspace();
    await releasedSession(workspace);
    const folder = join(root, '.orion/temporaries');
    mkdirSync(folder, { recursive: true });
    const note = join(folder, '.orion-0123456789abcdef.tmp.json');
    writeFileSync(note, '');
    const seconds = clock.now() / 1000;
    utimesSync(note, seconds, seconds - 29);
    await workspace.sessions.housekeep();
    expect(existsSync(note)).toBe(true);
    utimesSync(note, seconds, seconds - 31);
    await workspace.sessions.housekeep();
    expect(existsSync(note)).toBe(false);
  });
});

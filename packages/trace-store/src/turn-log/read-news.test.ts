import { createFakeClock } from '@orion/testkit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openPostgres } from '../engine/postgres.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { openStore } from '../open-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { readNews } from './read-news.ts';

/** Hazard: a reader is given too much at once, the wrong events, or does not learn that the log went back. */

const own = useTestDatabase();
const folder = mkdtempSync(join(tmpdir(), 'orion-news-'));
const open: SqlDatabase[] = [];
afterAll(async () => {
  for (const database of open) await database.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(['sqlite', 'postgres'] as const)('%s', (kind) => {
  let database: SqlDatabase;
  let epochs: readonly number[];

  beforeAll(async () => {
    const path = join(folder, 'orion.db');
    const location =
      kind === 'sqlite' ? ({ kind, path } as const) : ({ kind, url: own.url() } as const);
    const store = openStore(location, { clock: createFakeClock() });
    const { turnLog } = store;
    const first = await turnLog.acquire('turn', 1);
    // As JSON each has 100 bytes.
    const events = [1, 2, 3, 4].map((seq) => ({ seq, kind: 'chunk', data: 'ö'.repeat(49) }));
    await turnLog.append('turn', first.epoch, 1, events.slice(0, 2));
    const second = await turnLog.acquire('turn', 2);
    await turnLog.append('turn', second.epoch, 3, events.slice(2));
    await turnLog.acquire('empty', 1);
    epochs = [first.epoch, first.epoch, second.epoch, second.epoch];
    await store.close();
    database = kind === 'sqlite' ? await openSqlite(path) : await openPostgres(own.url());
    open.push(database);
  });

  test.each([
    ['all that fits', 400, [1, 2, 3, 4]],
    ['none whose text would go past the end', 199, [1, 2]],
    ['one that begins where the room ends', 200, [1, 2, 3]],
    ['one at least', 0, [1]],
  ])('reads %s', async (_, maxBytes, seqs) => {
    const [news] = await readNews(database, [{ turnId: 'turn', seq: 0 }], maxBytes);
    expect(news?.entries.map(({ seq }) => seq)).toEqual(seqs);
    expect(news?.entries.map(({ epoch }) => epoch)).toEqual(epochs.slice(0, seqs.length));
    expect([news?.epochAt, news?.lastSeq, news?.isOver]).toEqual([null, 4, false]);
  });

  test('reads each turn from its own place, and tells the epoch there', async () => {
    const cursors = [
      { turnId: 'turn', seq: 2 },
      { turnId: 'none', seq: 0 },
      { turnId: 'turn', seq: 4 },
      { turnId: 'empty', seq: 0 },
      { turnId: 'turn', seq: 9 },
      { turnId: 'turn', seq: 1 },
    ];
    const news = await readNews(database, cursors, 100);
    const seen = news.map((each) => each && [each.epochAt, each.entries.map(({ seq }) => seq)]);
    expect(seen).toEqual([
      [epochs[1], [3, 4]],
      undefined,
      [epochs[3], []],
      [null, []],
      [null, []],
      [epochs[0], [2, 3]],
    ]);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

test('a database that is full costs drops alone, and takes what waited when there is room again (C10)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orion-full-'));
  const database = await openSqlite(join(folder, 'store.db'));
  try {
    await migrate(database);
    const [row] = await database.all('pragma page_count');
    await database.all(`pragma max_page_count = ${Number(row?.['page_count']) + 20}`);
    const clock = createFakeClock();
    const store = createSqlTraceStore(database, {
      clock,
      createId: () => 'w',
      maxQueuedEvents: 300,
    });
    for (let index = 0; index < 1_000; index++) {
      store.record({ type: 'step', requestId: 'r', cycleIndex: index, details: 'x'.repeat(1_000) });
      if (index % 100 === 99) await clock.advance(0);
    }
    await clock.advance(10_000);
    const dropped = store.dropped();
    const before = await store.getTrace('r');
    expect(before.length + 300 + dropped).toBe(1_000);

    await database.all('pragma max_page_count = 1000000');
    await store.flush();
    const after = await store.getTrace('r');
    expect(after).toHaveLength(before.length + 300);
    expect(store.dropped()).toBe(dropped);
    const order = after.map((event) => event.cycleIndex ?? -1);
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(new Set(order).size).toBe(order.length);
    await store.close();
  } finally {
    await database.close();
    await rm(folder, { recursive: true });
  }
});

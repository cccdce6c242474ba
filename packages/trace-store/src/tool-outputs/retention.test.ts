import { createFakeClock } from '@orion/testkit';
import type { ToolOutputStore } from '@orion/contracts';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { openStore } from '../open-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { pruneOutputs } from './prune-outputs.ts';
import { createSqlToolOutputStore } from './sql-tool-output-store.ts';

const own = useTestDatabase();
const DAY_MS = 86_400_000;

const engines: readonly (readonly [string, () => Promise<SqlDatabase>])[] = [
  ['sqlite', () => openSqlite(':memory:')],
  ['postgres', () => openPostgres(own.url())],
];

function put(store: ToolOutputStore, id: string, project: string, at: number): Promise<unknown> {
  return store.put({
    id,
    project_id: project,
    tool_name: 'web.fetch',
    conversation_id: 'c',
    message_id: 'm',
    created_at: at,
    success: true,
    parameters: {},
    output: JSON.stringify('x'.repeat(996)),
  });
}

test.each(engines)(
  '%s removes the oldest outputs, by age and by size of each project (R285)',
  async (_, open) => {
    const database = await open();
    await migrate(database);
    const store = createSqlToolOutputStore(database);
    for (let at = 1; at <= 30; at += 1) await put(store, `a-${at}`, 'a', at);
    for (let at = 1; at <= 3; at += 1) await put(store, `b-${at}`, 'b', at);
    const idsOf = async (project: string): Promise<string[]> =>
      (await store.list({ project_id: project, order: 'oldest', limit: 100 })).outputs.map(
        ({ id }) => id,
      );

    expect(await pruneOutputs(database, { now: 40, before: 1, maxBytes: 1e9 })).toEqual([]);
    expect(await pruneOutputs(database, { now: 40, before: 2, maxBytes: 1e9 })).toEqual([
      'a-1',
      'b-1',
    ]);
    // Each is 998 bytes and the 2 of its parameters.
    const bySize = await pruneOutputs(database, { now: 40, before: 2, maxBytes: 4_000 });
    expect(bySize).toHaveLength(25);
    expect(bySize.at(-1)).toBe('a-26');
    expect(await idsOf('a')).toEqual(['a-27', 'a-28', 'a-29', 'a-30']);
    expect(await idsOf('b')).toEqual(['b-2', 'b-3']);
    for (const ask of [() => store.find('a-26'), () => store.read('a-26')]) {
      await expect(ask()).rejects.toMatchObject({ code: 'OUTPUT_EXPIRED' });
    }
    expect(await database.all('select count(*) as rows from tool_output_text')).toEqual([
      { rows: 6 },
    ]);
    // Four were exactly as many bytes, parameters included.
    expect(await pruneOutputs(database, { now: 40, before: 2, maxBytes: 3_999 })).toEqual(['a-27']);
    // One that is made again is there again.
    await put(store, 'a-26', 'a', 26);
    expect((await store.find('a-26'))?.bytes).toBe(998);
    // In the end nobody asks for it.
    const later = 41 + 365 * DAY_MS;
    await pruneOutputs(database, { now: later, before: 2, maxBytes: 1e9 });
    expect(await store.find('a-25')).toBeNull();
    await database.close();
  },
);

test('a turn of a long-lived process tidies up at most once an hour, and a trace names what went', async () => {
  const today = Date.now();
  const clock = createFakeClock(today);
  const store = openStore({ kind: 'sqlite', path: ':memory:' }, { clock });
  const expiries = async (): Promise<unknown[]> => {
    const cut = store.traces.flush();
    await clock.advance(100);
    await cut;
    return (await store.traces.query({ type: 'tool_outputs_expired' })).map(
      ({ details }) => details,
    );
  };
  const acquire = async (turn: string): Promise<void> => {
    await store.turnLog.acquire(turn, 1);
    // The database runs one statement after another: the tidying is done when this is.
    for (let index = 0; index < 20; index += 1) await store.toolOutputs.list({});
  };
  await put(store.toolOutputs, 'old', 'p', today - 31 * DAY_MS);
  await put(store.toolOutputs, 'new', 'p', today - 29 * DAY_MS);
  await acquire('one');
  expect(await expiries()).toEqual([{ count: 1, ids: ['old'] }]);
  await put(store.toolOutputs, 'older', 'p', 1);
  await acquire('two');
  expect(await expiries()).toHaveLength(1);
  await clock.advance(3_600_000);
  await acquire('three');
  expect(await expiries()).toEqual([
    { count: 1, ids: ['old'] },
    { count: 1, ids: ['older'] },
  ]);
  await expect(store.toolOutputs.find('old')).rejects.toMatchObject({ code: 'OUTPUT_EXPIRED' });
  expect((await store.toolOutputs.list({})).outputs.map(({ id }) => id)).toEqual(['new']);
  await store.close();
});

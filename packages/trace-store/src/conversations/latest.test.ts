import { createFakeClock } from '@orion/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { createMemoryTraceStore } from '../memory/memory-trace-store.ts';
import { migrate } from '../migrations/migrate.ts';
import { storeOver } from '../store-over.ts';
import type { Store } from '../store-over.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: the latest conversation is the one of the process whose clock is ahead. */

const own = useTestDatabase();
const DAY_MS = 86_400_000;

describe.each([
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', () => openPostgres(own.url())],
])('%s', (_, open) => {
  let database: SqlDatabase;
  beforeEach(async () => {
    database = await open();
    await migrate(database);
  });
  afterEach(() => database.close());

  /** A process whose clock is that many days ahead. */
  function processAt(days: number): Store {
    const clock = createFakeClock(Date.now() + days * DAY_MS);
    return storeOver(database, { clock, traces: createMemoryTraceStore({ clock }) });
  }

  async function save(store: Store, projectId: string, conversationId: string): Promise<void> {
    const saved = { conversationId, projectId, history: [], from: 0, openSessionId: null };
    await store.conversations.save({ ...saved, revision: 0 });
  }

  async function finish(store: Store, projectId: string, conversationId: string): Promise<void> {
    const turnId = `of ${conversationId}`;
    const { epoch } = await store.turnLog.acquire(turnId, 1);
    const events = [{ seq: 1, kind: 'done', data: null }];
    const saved = { conversationId, projectId, history: [], from: 0, openSessionId: null };
    await store.turnLog.finish({ turnId, epoch, expectSeq: 1, events }, { ...saved, revision: 0 });
  }

  test.each([
    ['saved', save],
    ['saved at the end of a turn', finish],
  ])('a message without a conversation joins the one that was %s last', async (how, put) => {
    const projectId = `of what is ${how}`;
    await put(processAt(31), projectId, `${how} first`);
    // If it is the same millisecond, the higher id counts.
    await put(processAt(-31), projectId, `${how} second`);
    const submission = {
      turnId: `turn of ${how}`,
      newConversationId: 'new',
      conversationId: null,
      projectId,
      content: 'text',
      mode: 'act',
      protocol: null,
      metadata: {},
    } as const;
    const submitted = await processAt(0).servedTurns.submit(submission, null, () =>
      Promise.resolve(),
    );
    expect(submitted).toMatchObject({ turn: { conversationId: `${how} second` } });
  });

  test('a list is read page by page also where many were saved in one moment', async () => {
    const store = processAt(0);
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) await save(store, 'pages', id);
    await database.run(
      "update conversation set created_at = 1, updated_at = 1 where project_id = 'pages'",
    );
    const list = async (last?: string): Promise<readonly string[]> => {
      const after = last === undefined ? {} : { after: at(last) };
      const page = await store.conversations.list({ projectId: 'pages', limit: 2, ...after });
      return page.map(({ conversationId }) => conversationId);
    };
    const at = (conversationId: string) => ({ updatedAt: 1, createdAt: 1, conversationId });
    expect([await list(), await list('d'), await list('b')]).toEqual([
      ['e', 'd'],
      ['c', 'b'],
      ['a'],
    ]);
  });
});

import { createFakeClock } from '@orion/testkit';
import { afterEach, expect, test } from 'vitest';
import { createSqlConversationStore } from './conversations/sql-conversation-store.ts';
import { openPostgres } from './engine/postgres.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { openSqlite } from './engine/sqlite.ts';
import { createSchema, migrate } from './migrations/migrate.ts';
import { ageTurns } from './testing/age-turns.ts';
import { oneAtATime } from './testing/one-at-a-time.ts';
import { useTestDatabase } from './testing/test-database.ts';
import { pruneOutputs } from './tool-outputs/prune-outputs.ts';
import { createSqlToolOutputStore } from './tool-outputs/sql-tool-output-store.ts';
import { pruneTraces } from './traces/prune-traces.ts';
import { createSqlTurnLog } from './turn-log/sql-turn-log.ts';

/** Hazard: a statement whose end nothing waits for: its failure is lost, and a transaction ends without it. */

const own = useTestDatabase();
const clock = createFakeClock(1_000);
let database: SqlDatabase;
afterEach(() => database.close());

test('a store with an owner is made one statement after the other', async () => {
  database = await openSqlite(':memory:');
  const owner = { newId: () => 'id', sign: () => 'mac', isOwn: () => true };
  await createSchema(oneAtATime(database), owner);
  expect(await database.all('select id, mac from store_owner')).toEqual([{ id: 'id', mac: 'mac' }]);
});

test.each([
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', () => openPostgres(own.url())],
])('%s: every statement has ended before the next one', async (_, open) => {
  database = await open();
  const watched = oneAtATime(database);
  await migrate(watched);

  const log = createSqlTurnLog(watched, { clock });
  const { epoch } = await log.acquire('turn', 1);
  const event = (seq: number) => ({ seq, kind: 'chunk', data: seq });
  await log.append('turn', epoch, 1, [event(1), event(2)]);
  await log.append('turn', epoch, 1, [event(1), event(2)]);
  await ageTurns(database, 5_000);
  expect(await log.foldOldTurns(2_000)).toBe(1);
  expect(await log.read('turn', 0)).toEqual([]);

  const conversations = createSqlConversationStore(watched);
  const told = { conversationId: 'c', projectId: 'p', openSessionId: null };
  const said = (...texts: string[]) => texts.map((content) => ({ role: 'user', content }) as const);
  await conversations.save({ ...told, history: said('a', 'b'), from: 0, revision: 0 });
  await conversations.save({ ...told, history: said('x', 'y'), from: 1, revision: 1 });
  expect((await conversations.load('c'))?.history).toEqual(said('a', 'x', 'y'));

  const outputs = createSqlToolOutputStore(watched);
  expect(await outputs.list({})).toMatchObject({ total: 0 });
  await outputs.put({
    id: 'o',
    project_id: 'p',
    tool_name: 't',
    conversation_id: 'c',
    message_id: 'm',
    created_at: 1,
    success: true,
    parameters: {},
    output: '1',
  });
  expect(await pruneOutputs(watched, { now: 9, before: 5, maxBytes: 1 })).toEqual(['o']);
  expect(await pruneTraces(watched, { before: 5, maxBytes: 1 })).toBe(0);
});

import { randomUUID } from 'node:crypto';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { openPostgres } from './engine/postgres.ts';
import { SqlRefusedError } from './engine/sql-database.ts';
import { openStore } from './open-store.ts';
import { execute, useTestDatabase } from './testing/test-database.ts';

const own = useTestDatabase();

test('a role that may not change the schema, and only adds traces, is enough for every turn (B19)', async () => {
  const clock = createFakeClock();
  const owner = openStore({ kind: 'postgres', url: own.url() }, { clock });
  await owner.turnLog.epochOf('turn');
  await owner.close();

  const role = `orion_role_${randomUUID().replaceAll('-', '')}`;
  await execute(own.url(), `create role ${role} login password 'test'`);
  for (const grant of [
    'select, insert on trace_event',
    'select on schema_step',
    'select, insert, update, delete on turn, turn_event, conversation, conversation_message, tool_output, tool_output_text',
  ]) {
    await execute(own.url(), `grant ${grant} to ${role}`);
  }
  const url = new URL(own.url());
  url.username = role;
  url.password = 'test';

  const store = openStore({ kind: 'postgres', url: url.href }, { clock });
  const { epoch } = await store.turnLog.acquire('turn', 1);
  await store.turnLog.append('turn', epoch, 1, [{ seq: 1, kind: 'done', data: null }]);
  await store.conversations.save({
    conversationId: 'conversation',
    projectId: 'project',
    history: [{ role: 'user', content: 'hello' }],
    from: 0,
    openSessionId: null,
    revision: 0,
  });
  store.traces.record({ type: 'step', requestId: 'turn' });
  const flushed = store.traces.flush();
  await clock.advance(100);
  await flushed;
  expect(await store.traces.getTrace('turn')).toHaveLength(1);
  await store.close();

  const database = await openPostgres(url.href);
  for (const sql of ['delete from trace_event', 'update trace_event set summary = null']) {
    await expect(database.run(sql)).rejects.toBeInstanceOf(SqlRefusedError);
  }
  await database.close();
  await execute(own.url(), `drop owned by ${role}; drop role ${role}`);
});

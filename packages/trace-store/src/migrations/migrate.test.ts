import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { createFakeClock } from '@orion/testkit';
import { createSqlApprovals } from '../approvals/sql-approvals.ts';
import { createSqlToolOutputStore } from '../tool-outputs/sql-tool-output-store.ts';
import { execute, inDatabase, useTestDatabase } from '../testing/test-database.ts';
import { createSqlTurnLog } from '../turn-log/sql-turn-log.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Migration } from './migrations.ts';

const own = useTestDatabase();
const folder = mkdtempSync(join(tmpdir(), 'orion-migrate-'));
const made: string[] = [];
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  for (const name of made) await execute(own.url(), `drop database ${name} with (force)`);
});

/** Gives every caller another connection to one new database. */
const engines: readonly (readonly [string, () => Promise<() => Promise<SqlDatabase>>])[] = [
  [
    'SQLite',
    () => {
      const path = join(folder, `${randomUUID()}.db`);
      return Promise.resolve(() => openSqlite(path));
    },
  ],
  [
    'Postgres',
    async () => {
      const name = `orion_migrate_${randomUUID().replaceAll('-', '')}`;
      await execute(own.url(), `create database ${name}`);
      made.push(name);
      return () => openPostgres(inDatabase(own.url(), name));
    },
  ],
];

const step = (version: number, ...statements: string[]): Migration => ({
  version,
  name: `step ${version}`,
  statements: () => statements,
});

describe.each(engines)('%s', (_, newDatabase) => {
  test('the steps are numbered 1, 2, 3 … and a store is made by them', async () => {
    expect(MIGRATIONS.map((migration) => migration.version)).toEqual(
      MIGRATIONS.map((__, index) => index + 1),
    );
    const database = await (await newDatabase())();
    await migrate(database);
    await migrate(database);
    expect(await database.all('select version from schema_step order by version')).toEqual(
      MIGRATIONS.map(({ version }) => ({ version })),
    );
    for (const table of [
      'trace_event',
      'conversation',
      'tool_output',
      'tool_output_text',
      'turn',
      'turn_event',
    ]) {
      expect(await database.all(`select count(*) as rows from ${table}`)).toEqual([{ rows: 0 }]);
    }
    await database.close();
  });

  test('many start at once: each step happens once', async () => {
    const open = await newDatabase();
    const databases = await Promise.all(Array.from({ length: 6 }, () => open()));
    const steps = [
      step(1, 'create table one (a text)'),
      step(2, "insert into one values ('x')", 'create table two (a text)'),
    ];
    await Promise.all(databases.map((database) => migrate(database, steps)));
    expect(await databases[0]?.all('select a from one')).toEqual([{ a: 'x' }]);
    await Promise.all(databases.map((database) => database.close()));
  });

  test('a step that fails has not begun, and the steps before it stay', async () => {
    const database = await (await newDatabase())();
    const first = step(1, 'create table one (a text)');
    const broken = step(2, 'create table two (a text)', 'this is not SQL');
    await expect(migrate(database, [first, broken])).rejects.toThrow();
    await expect(database.all('select * from two')).rejects.toThrow();
    expect(await database.all('select version from schema_step')).toEqual([{ version: 1 }]);
    await migrate(database, [first, step(2, 'create table two (a text)')]);
    expect(await database.all('select * from two')).toEqual([]);
    await database.close();
  });

  test('turns of the first schema learn when something last happened in them', async () => {
    const database = await (await newDatabase())();
    await migrate(database, MIGRATIONS.slice(0, 1));
    for (const [turnId, lastSeq, finishedAt] of [
      ['ended', 2, 20],
      ['killed', 2, null],
      ['begun', 0, null],
    ] as const) {
      await database.run(
        'insert into turn (turn_id, epoch, last_seq, finished_at) values ($1, 1, $2, $3)',
        [turnId, lastSeq, finishedAt],
      );
      for (let seq = 1; seq <= lastSeq; seq += 1) {
        await database.run(
          `insert into turn_event (turn_id, seq, epoch, kind, data, stored_at)
           values ($1, $2, 1, 'chunk', 'null', $3)`,
          [turnId, seq, seq * 10],
        );
      }
    }
    const now = Date.now();
    await migrate(database);
    const rows = await database.all('select turn_id, active_at from turn order by active_at');
    expect(rows.slice(0, 2).map((row) => row['active_at'])).toEqual([20, 20]);
    // Nothing tells of one without events: it counts as new.
    expect(rows[2]?.['turn_id']).toBe('begun');
    expect(Math.abs(Number(rows[2]?.['active_at']) - now)).toBeLessThan(60_000);
    await database.close();
  });

  test('turns of the fifth schema keep their events, and are acquired unless they are over', async () => {
    const database = await (await newDatabase())();
    await migrate(database, MIGRATIONS.slice(0, 5));
    for (const [turnId, activeAt, finishedAt] of [
      ['ended', 30, 20],
      ['open', 10, null],
    ] as const) {
      await database.run(
        `insert into turn (turn_id, epoch, last_seq, active_at, finished_at)
         values ($1, 1, 2, $2, $3)`,
        [turnId, activeAt, finishedAt],
      );
      for (const seq of [2, 1]) {
        await database.run(
          `insert into turn_event (turn_id, seq, epoch, kind, data, stored_at)
           values ($1, $2, 1, 'chunk', $3, $4)`,
          [turnId, seq, JSON.stringify(`${turnId} ${seq}`), seq * 10],
        );
      }
    }
    await migrate(database);
    const log = createSqlTurnLog(database, { clock: createFakeClock() });
    for (const turnId of ['ended', 'open']) {
      expect(await log.read(turnId, 0)).toEqual(
        [1, 2].map((seq) => ({
          turnId,
          seq,
          epoch: 1,
          kind: 'chunk',
          data: `${turnId} ${seq}`,
          storedAt: seq * 10,
        })),
      );
    }
    await expect(log.acquire('ended', 1)).rejects.toMatchObject({ code: 'TURN_FINISHED' });
    const { epoch, lastSeq } = await log.acquire('open', 1);
    expect([epoch > 1, lastSeq]).toEqual([true, 2]);
    const event = { seq: 3, kind: 'done', data: null };
    expect(await log.append('open', epoch, 3, [event])).toBe(3);
    // The oldest turn has the lowest number.
    const rows = await database.all('select turn_id from turn order by turn_no');
    expect(rows.map((row) => row['turn_id'])).toEqual(['open', 'ended']);
    await database.close();
  });

  test('outputs of the first schema are found, read and listed', async () => {
    const database = await (await newDatabase())();
    await migrate(database, MIGRATIONS.slice(0, 4));
    await database.run(
      `insert into conversation (conversation_id, project_id, title, messages, created_at, updated_at)
       values ('c', 'p', 't', 1, 1, 1)`,
    );
    const output = JSON.stringify(`ä😀${'x'.repeat(700)}`);
    for (const [id, conversation] of [
      ['of-c', 'c'],
      ['of-none', 'none'],
    ]) {
      await database.run(
        `insert into tool_output
           (id, tool_name, conversation_id, message_id, created_at, success, parameters, output)
         values ($1, 'web.fetch', $2, 'm', 7, 1, '{"u":1}', $3)`,
        [id ?? '', conversation ?? '', output],
      );
    }
    await migrate(database);
    const store = createSqlToolOutputStore(database);
    expect(await store.find('of-c')).toEqual({
      id: 'of-c',
      project_id: 'p',
      tool_name: 'web.fetch',
      conversation_id: 'c',
      message_id: 'm',
      created_at: 7,
      success: true,
      bytes: Buffer.byteLength(output),
      characters: [...output].length,
      cut: false,
      preview: [...output].slice(0, 500).join(''),
    });
    expect(await store.read('of-none')).toEqual({ parameters: '{"u":1}', output });
    expect((await store.list({ project_id: '' })).outputs.map(({ id }) => id)).toEqual(['of-none']);
    await database.close();
  });

  test.each([
    ['session s', { callId: null, sessionId: 's' }],
    ['call call_1', { callId: 'call_1', sessionId: null }],
  ])(
    'a question of the eighth schema (%s) still waits, and is shown once its turn asks again',
    async (subject, of) => {
      const database = await (await newDatabase())();
      await migrate(database, MIGRATIONS.slice(0, 8));
      await database.run(
        "insert into turn (turn_id, epoch, last_seq, active_at, state) values ('t', 1, 0, 1, 1)",
      );
      const action = { kind: 'write', intent: 'test', changes: [] } as const;
      const expiresAt = Date.now() + 3_600_000;
      await database.run(
        `insert into approval (approval_id, turn_id, subject, project_id, conversation_id, call_id, session_id, action, hash,
         state, created_at, expires_at)
       values ('asked', 't', $1, 'p', 'c', $2, $3, $4, 'h', 'pending', 1, $5)`,
        [subject, of.callId, of.sessionId, JSON.stringify(action), expiresAt],
      );
      await migrate(database);
      const approvals = createSqlApprovals(database);
      const asked = { approvalId: 'asked', state: 'pending', action, hash: 'h', expiresAt };
      expect(await approvals.list({ state: 'pending', limit: 9 })).toMatchObject([asked]);
      // Nothing was stored of what a person would be shown.
      expect(await approvals.findDiffs('asked')).toEqual([]);

      const owner = await createSqlTurnLog(database, { clock: createFakeClock() }).acquire('t', 1);
      const diffs = [{ target_file: 'a.txt', diff: '@@ -1 +1 @@\n-old\n+new\n', cut: false }];
      const again = await approvals.request(owner, {
        approvalId: 'another',
        turnId: 't',
        projectId: 'p',
        conversationId: 'c',
        ...of,
        action,
        diffs,
        hash: 'h',
        waitMs: 1,
      });
      expect(again).toMatchObject(asked);
      expect(await approvals.findDiffs('asked')).toEqual(diffs);
      const yes = { outcome: 'yes', reason: null } as const;
      expect(await approvals.decide('asked', 'h', yes)).toMatchObject({ kind: 'decided' });
      await database.close();
    },
  );
});

test('a step may take longer than a statement: a store that is large enough would never start again', async () => {
  const name = `orion_migrate_${randomUUID().replaceAll('-', '')}`;
  await execute(own.url(), `create database ${name}`);
  made.push(name);
  const url = inDatabase(own.url(), name);
  // The limit of the client comes a second after that of the server.
  const database = await openPostgres(url, { statementMs: 50 });
  const waiting = await openPostgres(url, { statementMs: 50 });
  const slow = [step(1, 'create table one (a text)', 'select pg_sleep(1.3)')];
  await Promise.all([migrate(database, slow), migrate(waiting, slow)]);
  expect(await database.all('select * from one')).toEqual([]);
  await expect(database.all('select pg_sleep(1)')).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
  await Promise.all([database.close(), waiting.close()]);
});

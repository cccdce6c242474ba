import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock } from '@orion/testkit';
import { beforeEach, expect, test } from 'vitest';
import { adoptStore, findForeignStore } from './adopt-store.ts';
import { openSqlite } from './engine/sqlite.ts';
import type { StoreOwner } from './engine/store-owner.ts';
import { migrate } from './migrations/migrate.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import { openStore } from './open-store.ts';
import type { Store } from './open-store.ts';

/** Hazard: a store that was made before stores were signed is lost to the one who made it. */

const OWNER: StoreOwner = {
  newId: () => 'id',
  sign: (id) => `mine: ${id}`,
  isOwn: (id, mac) => mac === `mine: ${id}`,
};

let path: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'orion-earlier-'));
  path = join(folder, 'orion.db');
  return () => {
    rmSync(folder, { recursive: true });
  };
});

async function withStore<Result>(use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = openStore(
    { kind: 'sqlite', path },
    { clock: createFakeClock(2_000_000), owner: () => Promise.resolve(OWNER) },
  );
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** What a version wrote: its schema, and a conversation of two messages in it. */
async function makeStore(version: number): Promise<void> {
  const database = await openSqlite(path);
  await migrate(database, MIGRATIONS.slice(0, version));
  await database.run(
    `insert into conversation (conversation_id, project_id, title, messages, created_at, updated_at)
     values ('c', 'p', 'What we said.', 2, 1000, 1000)`,
    [],
  );
  for (const [position, message] of [
    { role: 'user', content: 'What we said.' },
    { role: 'assistant', content: 'And what came of it: 12 × “ö”.' },
  ].entries()) {
    await database.run('insert into conversation_message values ($1, $2, $3)', [
      'c',
      position,
      JSON.stringify(message),
    ]);
  }
  const [columns, values] = version < 2 ? ['', ''] : [', active_at', ', 1000'];
  await database.run(
    `insert into turn (turn_id, epoch, last_seq, finished_at${columns}) values ('t', 1, 0, 1000${values})`,
  );
  await database.close();
}

test.each(MIGRATIONS.map(({ version }) => version))(
  'a store of version %i is named, taken over, and its conversation goes on',
  async (version) => {
    await makeStore(version);
    await expect(withStore((store) => store.conversations.list({ limit: 9 }))).rejects.toThrow(
      'was not made by you, as far as can be told',
    );
    expect(await findForeignStore(path, OWNER)).toMatchObject({
      adoptable: true,
      conversations: 1,
      titles: ['What we said.'],
    });

    await adoptStore(path, OWNER);

    expect(await findForeignStore(path, OWNER)).toBeNull();
    await withStore(async ({ conversations }) => {
      const before = await conversations.load('c');
      expect(before?.history.map(({ content }) => content)).toEqual([
        'What we said.',
        'And what came of it: 12 × “ö”.',
      ]);
      await conversations.save({
        conversationId: 'c',
        projectId: 'p',
        history: [{ role: 'user', content: 'And now?' }],
        from: 2,
        openSessionId: null,
        revision: before?.revision ?? -1,
      });
    });
    expect(
      await withStore(async (store) =>
        (await store.conversations.load('c'))?.history.map(({ content }) => content),
      ),
    ).toEqual(['What we said.', 'And what came of it: 12 × “ö”.', 'And now?']);
  },
);

import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { openStore } from '../open-store.ts';
import { ageTurns } from '../testing/age-turns.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';
import { claimKey, pruneKeys } from './request-keys.ts';

/** Hazard: a key that is forgotten too early makes a second turn; one that is kept for ever answers a new request. */

const own = useTestDatabase();
const DAY_MS = 86_400_000;
const KEY = { key: 'k', route: '/r', bodySha256: 'aa' };

test.each([
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', () => openPostgres(own.url())],
])('%s: a key holds for 24 hours, by the clock of the database (R287)', async (_, open) => {
  const database = await open();
  await migrate(database);
  const age = (milliseconds: number) =>
    database.run('update request_key set created_at = created_at - $1::bigint', [milliseconds]);
  const rows = async () =>
    (await database.all('select made from request_key')).map(({ made }) => made);
  expect(await claimKey(database, 'p', KEY, 'first')).toEqual({ kind: 'new' });
  await age(DAY_MS - 60_000);
  await pruneKeys(database);
  expect(await claimKey(database, 'p', KEY, 'second')).toEqual({ kind: 'repeated', made: 'first' });
  await age(120_000);
  expect(await claimKey(database, 'p', { ...KEY, bodySha256: 'bb' }, 'third')).toEqual({
    kind: 'new',
  });
  expect(await rows()).toEqual(['third']);
  await age(DAY_MS + 60_000);
  await pruneKeys(database);
  expect(await rows()).toEqual([]);
  await database.close();
});

test.each([-31, 31])(
  'a process whose clock is %i days ahead forgets no key, and folds no turn that waits',
  async (days) => {
    const location = temporaryStore();
    const right = openStore(location, { clock: createFakeClock(Date.now()) });
    await right.requestKeys.claim('p', KEY, 'first');
    const turn = {
      turnId: 'waits',
      newConversationId: 'c',
      projectId: 'p',
      content: 'text',
      mode: 'act',
      conversationId: null,
      protocol: null,
      metadata: {},
    } as const;
    await right.servedTurns.submit(turn, null, () => Promise.resolve());
    const database = await openSqlite(location.path);
    await ageTurns(database, 40 * DAY_MS);

    const clock = createFakeClock(Date.now() + days * DAY_MS);
    const skewed = openStore(location, { clock });
    await skewed.turnLog.acquire('of a command', 1);
    await skewed.close();

    expect(await right.requestKeys.claim('p', KEY, 'again')).toEqual({
      kind: 'repeated',
      made: 'first',
    });
    expect(await right.servedTurns.find('waits')).toMatchObject({ state: 'queued' });
    expect(await right.servedTurns.toRun('waits')).toMatchObject({ content: 'text' });

    // Once it is over it is as any other turn, and what was asked goes with its text.
    const { epoch } = await right.turnLog.acquire('waits', 1);
    await right.turnLog.append('waits', epoch, 1, [{ seq: 1, kind: 'done', data: null }]);
    await ageTurns(database, 40 * DAY_MS);
    const later = openStore(location, { clock });
    await later.turnLog.acquire('of another command', 1);
    await later.close();
    const folded = await database.all(
      "select request, folded_at is not null as folded from turn where turn_id = 'waits'",
    );
    expect(folded).toEqual([{ request: null, folded: 1 }]);
    await database.close();
    await right.close();
  },
);

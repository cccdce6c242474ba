import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orion/contracts';
import type { TurnNews } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import { openSqlite } from '../engine/sqlite.ts';
import { migrate } from '../migrations/migrate.ts';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';
import type { StoreLocation } from '../store-options.ts';
import { execute, inDatabase, useTestDatabase } from '../testing/test-database.ts';
import { createSqlTurnLog } from './sql-turn-log.ts';

/**
 * Hazard: a database that went back, as after a failover to a standby that had not received everything, gives to a new
 * owner the number of one that still runs, and to a reader another history than it has read.
 */

const own = useTestDatabase();

type Copied = readonly [original: StoreLocation, copy: StoreLocation];

/** A store with `prepare` done to it, and a copy of it. Both are closed. */
const engines: readonly (readonly [
  string,
  (prepare: (store: Store) => Promise<void>) => Promise<Copied>,
])[] = [
  [
    'SQLite',
    async (prepare) => {
      const folder = mkdtempSync(join(tmpdir(), 'orion-timelines-'));
      onTestFinished(() => {
        rmSync(folder, { recursive: true });
      });
      const [path, copy] = [join(folder, 'orion.db'), join(folder, 'copy.db')];
      await use({ kind: 'sqlite', path }, prepare);
      copyFileSync(path, copy);
      return [
        { kind: 'sqlite', path },
        { kind: 'sqlite', path: copy },
      ];
    },
  ],
  [
    'Postgres',
    async (prepare) => {
      const copy = `orion_copy_${randomUUID().replaceAll('-', '')}`;
      const name = new URL(own.url()).pathname.slice(1);
      await use({ kind: 'postgres', url: own.url() }, prepare);
      const server = inDatabase(own.url(), 'postgres');
      await execute(server, `create database ${copy} template ${name}`);
      onTestFinished(async () => {
        await execute(server, `drop database ${copy} with (force)`);
      });
      return [
        { kind: 'postgres', url: own.url() },
        { kind: 'postgres', url: inDatabase(own.url(), copy) },
      ];
    },
  ],
];

async function use<Result>(
  location: StoreLocation,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = openStore(location, { clock: systemClock });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

test.each(engines)('%s: two copies of a store do not make the same epoch', async (_, copied) => {
  const turns = ['new', 'known', 'known again'];
  const locations = await copied(async ({ turnLog }) => {
    for (const turnId of turns.slice(1)) await turnLog.acquire(turnId, 1);
  });
  const [original, copy] = await Promise.all(
    locations.map((location) =>
      use(location, async ({ turnLog }) => {
        const epochs: number[] = [];
        for (const turnId of turns) epochs.push((await turnLog.acquire(turnId, 1)).epoch);
        return epochs;
      }),
    ),
  );
  for (const [index, epoch] of (original ?? []).entries()) expect(copy?.[index]).not.toBe(epoch);
});

const event = (seq: number, text: string) => ({ seq, kind: 'chunk', data: text });

/** Events by their text; a reset is what it says. */
async function textOf(reader: AsyncIterator<TurnNews>): Promise<unknown> {
  const next = await reader.next();
  if (next.done === true) return 'over';
  return next.value.kind === 'event' ? next.value.entry.data : 'reset';
}

test.each([
  ['SQLite', () => openSqlite(':memory:')],
  ['Postgres', () => openPostgres(own.url())],
])(
  '%s: a reader that was ahead of a log that went back gets a reset and then one whole history (R288)',
  async (_, open) => {
    const clock = createFakeClock();
    const database = await open();
    await migrate(database);
    const log = createSqlTurnLog(database, { clock });
    const claims = await Promise.all(
      ['rewritten', 'short'].map((turnId) => log.acquire(turnId, 1)),
    );
    for (const { turnId, epoch } of claims) {
      await log.append(
        turnId,
        epoch,
        1,
        [1, 2, 3, 4].map((seq) => event(seq, `old ${seq}`)),
      );
    }
    const { signal } = new AbortController();
    const readers = claims.map(({ turnId }) =>
      log.follow([{ turnId, after: { seq: 0, epoch: null } }], signal)[Symbol.asyncIterator](),
    );
    for (const reader of readers) {
      for (const seq of [1, 2, 3, 4]) expect(await textOf(reader)).toBe(`old ${seq}`);
    }

    // What a standby had of it.
    await database.run('delete from turn_event where seq > 2');
    await database.run('update turn set last_seq = 2 where last_seq = 4');
    for (const { turnId, epoch } of claims) {
      await expect(log.append(turnId, epoch, 5, [event(5, 'old 5')])).rejects.toMatchObject({
        code: 'TURN_LOG_GAP',
      });
    }
    const { epoch } = await log.acquire('rewritten', 2);
    await log.append(
      'rewritten',
      epoch,
      3,
      [3, 4, 5].map((seq) => event(seq, `new ${seq}`)),
    );

    const whole = ['reset', 'old 1', 'old 2', 'new 3', 'new 4', 'new 5'];
    for (const text of whole) expect(await textOf(readers[0] ?? fail())).toBe(text);
    const short = textOf(readers[1] ?? fail());
    await clock.advance(1_000);
    expect(await short).toBe('reset');
    for (const text of ['old 1', 'old 2']) expect(await textOf(readers[1] ?? fail())).toBe(text);
    for (const reader of readers) await reader.return?.();
    await database.close();
  },
);

function fail(): never {
  throw new Error('There is no such reader');
}

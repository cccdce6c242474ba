import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orion/contracts';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Store, StoreLocation } from '../open-store.ts';
import { execute, inDatabase, useTestDatabase } from '../testing/test-database.ts';

/**
 * Hazard: a database that went back, as after a failover to a standby that had not received everything, gives to a new
 * owner the number of one that still runs.
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

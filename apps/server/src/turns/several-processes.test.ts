import { createOrion, openStore } from '@orion/agent';
import type { Store } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { expect, it, onTestFinished } from 'vitest';

import { startServer } from '../start-server.ts';
import { idsOf, run, TEXT } from '../testing/process-runner.ts';
import type { Place } from '../testing/process-runner.ts';
import { makeDatabase } from '../testing/test-database.ts';
import { startTestServer, temporaryDirectory } from '../testing/test-server.ts';
import { doneOf } from '../testing/test-turns.ts';

/** Hazard: processes share the turns of a Postgres, and one that dies or leaves takes its turns with it. */

const LONG = { timeout: 180_000, tags: ['long'] };

async function makePlace(): Promise<Place> {
  const databaseUrl = await makeDatabase();
  return { workspace: await temporaryDirectory(), databaseUrl, queue: 'pg-boss' };
}

/** How the turns ended, and whether each event is there once and in order. */
async function requireWhole({ workspace, databaseUrl }: Place, ids: readonly string[]) {
  const orion = await createOrion({ workspace, settings: { databaseUrl } });
  onTestFinished(() => orion.close());
  for (const turnId of ids) {
    const events = await orion.store.turnLog.read(turnId, 0);
    expect(doneOf(events)).toMatchObject({ status: 'complete', fullContent: TEXT });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
  }
}

/** As if a dead process had been silent for so long; the engine waits for 10 s. */
async function beSilentFor(seconds: number, { databaseUrl: url }: Place): Promise<void> {
  const store = openStore({ kind: 'postgres', url }, { clock: systemClock });
  await store.engineDatabase?.executeSql(
    `update orion_queue.job set heartbeat_on = now() - interval '${seconds} seconds' where state = 'active'`,
  );
  await store.close();
}

function openTestStore(url: string): Store {
  const store = openStore({ kind: 'postgres', url }, { clock: systemClock });
  onTestFinished(() => store.close());
  return store;
}

it.each(['directory', 'database'] as const)(
  'is refused with other folders than the servers of the store have, with sessions in a %s',
  async (sessions) => {
    const databaseUrl = await makeDatabase();
    const start = (workspace: string) => {
      const settings = { databaseUrl, sessions };
      const store = openTestStore(databaseUrl);
      return startTestServer({}, { workspace, settings, store, projectId: 'p' });
    };
    const folder = await temporaryDirectory();
    await start(folder);
    await expect(start(await temporaryDirectory())).rejects.toMatchObject({ code: 'STORE_IN_USE' });
    await start(folder);
  },
);

it('is refused with sessions on a network file system, which its turns would be without', async () => {
  const store = openTestStore(await makeDatabase());
  const orion = await createOrion({ workspace: await temporaryDirectory(), store });
  onTestFinished(() => orion.close());
  const serverFiles = {
    ...orion.serverFiles,
    networkFileSystem: () => Promise.resolve('NFS'),
  };
  await expect(startServer({ orion: { ...orion, serverFiles }, port: 0 })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('NFS') as string,
  });
});

// How soon is measured by `npm run dist`.
it(
  'takes over the turns of a killed process, and every turn ends once',
  { tags: ['long'], timeout: 180_000 },
  async () => {
    const place = await makePlace();
    const first = run(place, { pauseMs: 60_000 });
    await first.until('serves');
    for (const conversation of ['a', 'b', 'c', 'd']) first.tell(conversation);
    // Three have a slot; one waits.
    await first.until('stored', 4);
    await first.until('speaks', 3);
    const second = run(place, { pauseMs: 1 });
    // What waits is begun by any process at once.
    await second.until('ended', 1);
    const ids = idsOf(first.said, 'stored');
    await first.kill('SIGKILL');
    await beSilentFor(11, place);
    await second.until('ended', 4);
    expect(idsOf(second.said, 'ended').toSorted()).toEqual(ids.toSorted());
    second.tell('stop');
    await second.exit;
    await requireWhole(place, ids);
  },
);

it(
  'goes on with what the only process left when it was killed, however short it has been silent',
  LONG,
  async () => {
    const place = await makePlace();
    const first = run(place, { pauseMs: 60_000 });
    await first.until('serves');
    for (const conversation of ['a', 'b']) first.tell(conversation);
    await first.until('speaks', 2);
    await first.kill('SIGKILL');
    await beSilentFor(-3_600, place);
    const second = run(place, { pauseMs: 1 });
    await second.until('ended', 2);
    await requireWhole(place, idsOf(first.said, 'stored'));
  },
);

it('hands over the turns of a process that stops', LONG, async () => {
  const place = await makePlace();
  const first = run(place, { pauseMs: 60_000 });
  await first.until('serves');
  for (const conversation of ['a', 'b']) first.tell(conversation);
  await first.until('speaks', 2);
  const second = run(place, { pauseMs: 1 });
  await second.until('serves');
  first.tell('stop');
  await second.until('speaks', 2);
  await first.exit;
  await second.until('ended', 2);
  await requireWhole(place, idsOf(first.said, 'stored'));
});

it('ends a turn that is cancelled in another process', LONG, async () => {
  const place = await makePlace();
  const owner = run(place, { pauseMs: 60_000 });
  await owner.until('serves');
  owner.tell('a');
  await owner.until('speaks');
  const other = run(place, { pauseMs: 60_000 });
  await other.until('serves');
  const [turnId = ''] = idsOf(owner.said, 'stored');
  other.tell(`cancel ${turnId}`);
  await owner.until(`ended ${turnId}`);
});

it('is refused while one process alone serves the store, and refuses that one', LONG, async () => {
  const place = await makePlace();
  const alone = { ...place, queue: 'in-process' } as const;
  const first = run(alone, { pauseMs: 1 });
  await first.until('serves');
  const refused = run(place, { pauseMs: 1 });
  await refused.exit;
  expect(refused.said).toEqual(['STORE_IN_USE']);
  first.tell('stop');
  await first.exit;
  const shared = run(place, { pauseMs: 1 });
  await shared.until('serves');
  const other = run(alone, { pauseMs: 1 });
  await other.exit;
  expect(other.said).toEqual(['STORE_IN_USE']);
});

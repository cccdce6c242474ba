import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@orion/contracts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';
import type { StoreLocation } from '../store-options.ts';
import { startFaultyProxy } from '../testing/faulty-proxy.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { execute, useTestDatabase } from '../testing/test-database.ts';

/** Hazard: two processes that run the turns of one store; and a store that nobody can serve after a crash. */

const own = useTestDatabase();
const script = fileURLToPath(new URL('../testing/serve-in-a-process.ts', import.meta.url));

function openAt(location: StoreLocation): Store {
  const store = openStore(location, { clock: systemClock });
  onTestFinished(() => store.close());
  return store;
}

async function serveInAProcess(at: string): Promise<ChildProcess> {
  const server = spawn(process.execPath, ['--conditions=@orion/source', script, at], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  await once(server.stdout, 'data');
  return server;
}

describe.each<[string, () => Extract<StoreLocation, { kind: 'sqlite' | 'postgres' }>]>([
  ['SQLite', temporaryStore],
  ['Postgres', () => ({ kind: 'postgres', url: own.url() })],
])('%s', (_, at) => {
  test('one process serves a store; another one is told which, and follows when that was killed', async () => {
    const location = at();
    const server = await serveInAProcess(location.kind === 'sqlite' ? location.path : location.url);
    const store = openAt(location);
    await expect(store.holdServing()).rejects.toMatchObject({
      code: 'STORE_IN_USE',
      details: { pid: server.pid, host: hostname(), url: 'http://127.0.0.1:1' },
    });
    server.kill('SIGKILL');
    await once(server, 'exit');
    const hold = await store.holdServing();
    expect(hold.lost.aborted).toBe(false);
    await hold.release();
  });

  test('a store that was released can be held again, also in the same process', async () => {
    const location = at();
    const [one, other] = [openAt(location), openAt(location)];
    const first = await one.holdServing();
    await expect(other.holdServing()).rejects.toMatchObject({
      code: 'STORE_IN_USE',
      message: `The store is in use by another server (process ${process.pid} on ${hostname()})`,
    });
    await first.release();
    await first.release();
    const second = await other.holdServing();
    expect(first.lost.aborted).toBe(false);
    await second.release();
  });
});

test('a hold whose name cannot be written leaves no lock behind', async () => {
  const location = temporaryStore();
  const [one, other] = [openAt(location), openAt(location)];
  await (await one.holdServing()).release();
  const file = new DatabaseSync(location.path);
  file.exec(`create trigger refused before insert on serving begin select raise(abort, 'no'); end`);
  await expect(one.holdServing()).rejects.not.toMatchObject({ code: 'STORE_IN_USE' });
  file.exec('drop trigger refused');
  file.close();
  await (await other.holdServing()).release();
});

test('a hold that is taken again looks whether its program can still work with the store', async () => {
  const proxy = await startFaultyProxy(own.url());
  onTestFinished(() => proxy.close());
  const sharing = { sharedBy: 'newer' };
  const hold = await openAt({ kind: 'postgres', url: proxy.url }).holdServing(sharing);
  onTestFinished(() => hold.release());
  proxy.setOpen(false);
  const [{ version } = { version: 0 }] = (await execute(
    own.url(),
    'select max(version) + 1 as version from schema_step',
  )) as readonly { version: number }[];
  const step = `insert into schema_step (version, name, readable_by) values (${version}, 'newer', ${version})`;
  await execute(own.url(), step);
  onTestFinished(async () => {
    await execute(own.url(), `delete from schema_step where version = ${version}`);
  });
  proxy.setOpen(true);
  await expect.poll(() => hold.lost.aborted, { timeout: 5_000 }).toBe(true);
  expect(hold.lost.reason).toMatchObject({ code: 'STORE_TOO_NEW' });
}, 20_000);

test('a store in memory is held by itself', async () => {
  const hold = await openAt({ kind: 'memory' }).holdServing();
  await (await openAt({ kind: 'memory' }).holdServing()).release();
  await hold.release();
});

test.each<[string, (file: string) => void]>([
  ['a link', (file) => symlinkSync('/dev/null', file)],
  ['a file with something in it', (file) => writeFileSync(file, 'x', { mode: 0o600 })],
])('%s in the place of the lock is not used', async (_, plant) => {
  const location = temporaryStore();
  plant(`${location.path}-lock`);
  await expect(openAt(location).holdServing()).rejects.toMatchObject({ code: 'STORE_FOREIGN' });
});

test('of those that share a store, one that comes when nobody is there learns so', async () => {
  const store = openAt({ kind: 'postgres', url: own.url() });
  const first = await store.holdServing({ sharedBy: 'here' });
  const second = await store.holdServing({ sharedBy: 'here' });
  await first.release();
  const third = await store.holdServing({ sharedBy: 'here' });
  expect([first.isOnly, second.isOnly, third.isOnly]).toEqual([true, false, false]);
  await expect(store.holdServing({ sharedBy: 'there' })).rejects.toMatchObject({
    code: 'STORE_IN_USE',
  });
  await second.release();
  await third.release();
  const next = await store.holdServing({ sharedBy: 'there' });
  expect(next.isOnly).toBe(true);
  await next.release();
});

test(
  'a hold that goes with its connection is taken again, and is lost when another process was faster',
  { tags: ['long'], timeout: 20_000 },
  async () => {
    const proxy = await startFaultyProxy(own.url());
    onTestFinished(() => proxy.close());
    const hold = await openAt({ kind: 'postgres', url: proxy.url }).holdServing();
    onTestFinished(() => hold.release());
    const locks = async (): Promise<number> =>
      (
        await execute(
          own.url(),
          `select 1 from pg_locks where locktype = 'advisory' and granted
           and database = (select oid from pg_database where datname = current_database())`,
        )
      ).length;
    proxy.setOpen(false);
    await expect.poll(locks).toBe(0);
    proxy.setOpen(true);
    await expect.poll(locks, { timeout: 5_000 }).toBe(1);
    expect(hold.lost.aborted).toBe(false);

    proxy.setOpen(false);
    const other = await openAt({ kind: 'postgres', url: own.url() }).holdServing();
    proxy.setOpen(true);
    await expect.poll(() => hold.lost.aborted, { timeout: 5_000 }).toBe(true);
    expect(hold.lost.reason).toMatchObject({ code: 'STORE_IN_USE' });
    await other.release();
  },
);

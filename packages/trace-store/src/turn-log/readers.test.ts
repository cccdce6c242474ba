import type { TurnLogEntry } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import type { FakeClock } from '@orion/testkit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';
import { startFaultyProxy } from '../testing/faulty-proxy.ts';
import { execute, useTestDatabase } from '../testing/test-database.ts';

const own = useTestDatabase();
const folder = mkdtempSync(join(tmpdir(), 'orion-readers-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function follow(store: Store, turnId: string): { seqs: number[]; ended: Promise<void> } {
  const seqs: number[] = [];
  const tail: AsyncIterable<TurnLogEntry> = store.turnLog.tail(
    turnId,
    0,
    new AbortController().signal,
  );
  const ended = (async () => {
    for await (const entry of tail) seqs.push(entry.seq);
  })();
  return { seqs, ended };
}

const put = async (store: Store, turnId: string, seq: number, kind = 'chunk'): Promise<number> =>
  store.turnLog.append(turnId, await store.turnLog.epochOf(turnId), seq, [
    { seq, kind, data: null },
  ]);

/** Lets sweeps happen until the reader has seen that many. */
async function sweepUntil(clock: FakeClock, seqs: readonly number[], count: number): Promise<void> {
  await vi.waitFor(
    async () => {
      await clock.advance(1_000);
      expect(seqs).toHaveLength(count);
    },
    { timeout: 20_000, interval: 5 },
  );
}

test('SQLite: what another process stores is seen by the next sweep', async () => {
  const location = { kind: 'sqlite', path: join(folder, 'orion.db') } as const;
  const clock = createFakeClock();
  const [writer, reader] = [openStore(location, { clock }), openStore(location, { clock })];
  await writer.turnLog.acquire('turn', 1);
  const { seqs, ended } = follow(reader, 'turn');
  await put(writer, 'turn', 1);
  await sweepUntil(clock, seqs, 1);
  await put(writer, 'turn', 2);
  await put(writer, 'turn', 3, 'done');
  await sweepUntil(clock, seqs, 3);
  await ended;
  expect(clock.pending()).toBe(0);
  await writer.close();
  await reader.close();
}, 30_000);

test('Postgres: a reader of another process is woken without any sweep', async () => {
  const location = { kind: 'postgres', url: own.url() } as const;
  const clock = createFakeClock();
  const [writer, reader] = [openStore(location, { clock }), openStore(location, { clock })];
  await writer.turnLog.acquire('woken', 1);
  const { seqs, ended } = follow(reader, 'woken');
  await vi.waitFor(
    async () => {
      const listening = await execute(
        own.url(),
        "select 1 from pg_stat_activity where state = 'idle' and query = 'listen \"orion_turn\"' and datname = current_database()",
      );
      expect(listening).toHaveLength(1);
    },
    { timeout: 20_000, interval: 20 },
  );
  // The clock stands still: only a notification can wake.
  await put(writer, 'woken', 1);
  await put(writer, 'woken', 2, 'done');
  await ended;
  expect(seqs).toEqual([1, 2]);
  await writer.close();
  await reader.close();
}, 30_000);

test('Postgres: a reader that polls listens to nothing, and looks every 100 ms', async () => {
  const location = { kind: 'postgres', url: own.url() } as const;
  const clock = createFakeClock();
  const writer = openStore(location, { clock });
  const reader = openStore(location, { clock, wake: 'poll' });
  await writer.turnLog.acquire('polled', 1);
  const { seqs, ended } = follow(reader, 'polled');
  await vi.waitFor(() => expect(clock.pending()).toBe(1), { timeout: 20_000, interval: 5 });
  await put(writer, 'polled', 1);
  await clock.advance(99);
  expect(seqs).toEqual([]);
  await clock.advance(1);
  await vi.waitFor(() => expect(seqs).toEqual([1]), { timeout: 20_000, interval: 5 });
  await put(writer, 'polled', 2, 'done');
  await vi.waitFor(
    async () => {
      await clock.advance(100);
      expect(seqs).toEqual([1, 2]);
    },
    { timeout: 20_000, interval: 5 },
  );
  await ended;
  await writer.close();
  await reader.close();
}, 30_000);

test('Postgres: a reader whose connections break goes on, each event once', async () => {
  const proxy = await startFaultyProxy(own.url());
  const clock = createFakeClock();
  const writer = openStore({ kind: 'postgres', url: own.url() }, { clock });
  const reader = openStore({ kind: 'postgres', url: proxy.url }, { clock });
  await writer.turnLog.acquire('broken', 1);
  const { seqs, ended } = follow(reader, 'broken');
  for (let seq = 1; seq <= 6; seq += 2) {
    await put(writer, 'broken', seq);
    await sweepUntil(clock, seqs, seq);
    proxy.setOpen(false);
    await put(writer, 'broken', seq + 1, seq === 5 ? 'done' : 'chunk');
    await clock.advance(1_000);
    proxy.setOpen(true);
    await sweepUntil(clock, seqs, seq + 1);
  }
  await ended;
  expect(seqs).toEqual([1, 2, 3, 4, 5, 6]);
  await writer.close();
  await reader.close();
  await proxy.close();
}, 30_000);

test('a reader that stops in the middle leaves nothing behind', async () => {
  const clock = createFakeClock();
  const store = openStore({ kind: 'memory' }, { clock });
  await store.turnLog.acquire('turn', 1);
  await put(store, 'turn', 1);
  for await (const entry of store.turnLog.tail('turn', 0, new AbortController().signal)) {
    expect(entry.seq).toBe(1);
    break;
  }
  expect(clock.pending()).toBe(0);
  await store.close();
});

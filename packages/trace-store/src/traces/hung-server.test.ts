import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { openPostgres } from '../engine/postgres.ts';
import { createSqlTraceStore } from './sql-trace-store.ts';

test('a server that takes connections and never answers costs a recorder nothing and close its deadline', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const database = await openPostgres(`postgres://nobody@127.0.0.1:${port}/nothing`, {
    connectMs: 600_000,
  });
  const clock = createFakeClock();
  const store = createSqlTraceStore(database, {
    clock,
    createId: () => 'w',
    maxQueuedEvents: 200,
  });
  try {
    for (let round = 0; round < 20; round++) {
      for (let index = 0; index < 50; index++) store.record('step', { text: 'x'.repeat(100) });
      await clock.advance(1_000);
    }
    expect(store.dropped()).toBe(1_000 - 200);
    // One attempt is under way, and no other is begun beside it.
    expect(sockets).toHaveLength(1);
    let closed = false;
    const closing = store.close().then(() => {
      closed = true;
    });
    await clock.advance(999);
    expect(closed).toBe(false);
    await clock.advance(1);
    expect(closed).toBe(true);
    await closing;
    expect(store.dropped()).toBe(1_000);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await database.close();
  }
});

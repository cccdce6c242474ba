import { OrionError, systemClock } from '@orion/contracts';
import { startPostgres } from '@orion/testkit/postgres';
import { expect, test } from 'vitest';
import { openStore } from '../open-store.ts';

const EVENTS = 60;

test(
  'a server that is killed and comes back: the writer and the reader go on where they were',
  { tags: ['long'], timeout: 60_000 },
  async () => {
    const server = await startPostgres();
    const store = openStore({ kind: 'postgres', url: server.url }, { clock: systemClock });
    try {
      const read: number[] = [];
      const { epoch } = await store.turnLog.acquire('turn', 1);
      const reading = (async () => {
        for await (const entry of store.turnLog.tail('turn', 0, new AbortController().signal)) {
          read.push(entry.seq);
        }
      })();
      let refused = 0;
      let restarted: Promise<void> | null = null;
      for (let seq = 1; seq <= EVENTS;) {
        // A reader that has never read anything is told of the failure instead.
        while (seq === 20 && read.length === 0)
          await new Promise((settle) => setTimeout(settle, 5));
        if (seq === 20 && restarted === null) {
          await server.kill();
          restarted = server.restart();
        }
        const kind = seq === EVENTS ? 'done' : 'chunk';
        try {
          seq = (await store.turnLog.append('turn', epoch, seq, [{ seq, kind, data: null }])) + 1;
        } catch (error) {
          if (!OrionError.isInstance(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
          refused += 1;
          await new Promise((resolve) => {
            setTimeout(resolve, 10);
          });
        }
      }
      await restarted;
      await reading;
      const expected = Array.from({ length: EVENTS }, (_, index) => index + 1);
      expect(refused).toBeGreaterThan(0);
      expect((await store.turnLog.read('turn', 0)).map((entry) => entry.seq)).toEqual(expected);
      expect(read).toEqual(expected);
    } finally {
      await store.close();
      await server.stop();
    }
  },
);

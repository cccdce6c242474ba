import { openStore } from '@orion/trace-store';
import { OrionError } from '@orion/contracts';
import type { RunEvent, TurnLog } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it, onTestFinished } from 'vitest';

import { StoreHealth } from './store-health.ts';
import { TurnJournal } from './turn-journal.ts';

/** Hazard: the answer to one append is lost while the turn goes on, and with it everything that follows. */

function journalOver(loses: (append: number) => boolean, meanwhile = (): void => undefined) {
  const clock = createFakeClock();
  const store = openStore({ kind: 'memory' }, { clock });
  onTestFinished(() => store.close());
  let appends = 0;
  const log: TurnLog = {
    ...store.turnLog,
    acquire: (...call) => store.turnLog.acquire(...call),
    async append(...call) {
      meanwhile();
      const stored = await store.turnLog.append(...call);
      appends += 1;
      if (!loses(appends)) return stored;
      throw new OrionError({ code: 'STORE_UNAVAILABLE', message: 'no answer', retryable: true });
    },
  };
  const journal = new TurnJournal({ log, clock, turnId: 't', health: new StoreHealth({ clock }) });
  let seq = 0;
  const note = (content: string): void => {
    seq += 1;
    const base = { seq, requestId: 't', projectId: 'p', conversationId: 'c', protocol: 'x' };
    const place = { phase: 'action', phaseIndex: 0, cycleIndex: 0 } as const;
    journal.note({ ...base, ...place, type: 'chunk', content, source: 'model' } as RunEvent);
  };
  return { clock, journal, note, read: () => store.turnLog.read('t', 0, 1_000) };
}

it('stores everything when answers are lost and more comes meanwhile', async () => {
  const { clock, journal, note, read } = journalOver((append) => append % 3 === 1);
  for (let count = 0; count < 40; count += 1) {
    note(`word ${count}`);
    await clock.advance(30);
  }
  await journal.end();
  for (let waits = 0; waits < 20; waits += 1) await clock.advance(1_000);
  await journal.finished;
  expect(journal.dropped()).toBe(0);
  expect((await read()).map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
});

it('counts only the text that waits, however long the turn is', async () => {
  const long = 'x'.repeat(3 * 1024 * 1024);
  let left = 12;
  // There is always something that waits while something is stored.
  const more = (): void => {
    left -= 1;
    if (left >= 0) note(long);
  };
  const { clock, journal, note } = journalOver(() => false, more);
  note(long);
  await clock.advance(100);
  await journal.settled();
  await journal.end();
  await journal.finished;
  expect(left).toBeLessThan(0);
  expect(journal.dropped()).toBe(0);
});

import { createFakeClock } from '@orion/testkit';
import { expect, test, vi } from 'vitest';
import { openSqlite } from './engine/sqlite.ts';
import { openStore } from './open-store.ts';
import { ageTurns } from './testing/age-turns.ts';
import { temporaryStore } from './testing/temporary-store.ts';

/** Hazard: a busy server makes more turns than are tidied up, and its store grows for ever. */

const DAY_MS = 86_400_000;
const TURNS = 350;

test('all turns that are old are folded beside the next one, however many they are', async () => {
  const location = temporaryStore();
  const clock = createFakeClock(Date.now());
  const store = openStore(location, { clock });
  const submission = {
    projectId: 'p',
    content: 'text',
    mode: 'act',
    protocol: null,
    metadata: {},
  } as const;
  for (let turn = 0; turn < TURNS; turn += 1) {
    const turnId = `old-${turn}`;
    const names = { turnId, newConversationId: turnId, conversationId: null };
    await store.servedTurns.submit({ ...submission, ...names }, null, () => Promise.resolve());
    const { epoch } = await store.turnLog.acquire(turnId, 1);
    const text = { seq: 1, kind: 'chunk', data: 'text' };
    await store.turnLog.appendAll([
      { turnId, epoch, expectSeq: 1, events: [text], checkpoint: { at: 1 } },
    ]);
    await store.turnLog.append(turnId, epoch, 2, [{ seq: 2, kind: 'done', data: null }]);
  }
  const database = await openSqlite(location.path);
  const rows = async (sql: string) => Number((await database.all(sql))[0]?.['n']);
  expect(await rows('select count(checkpoint) as n from turn')).toBe(0);
  await ageTurns(database, 40 * DAY_MS);
  await store.close();
  const later = openStore(location, { clock });
  await later.turnLog.acquire('now', 1);
  await vi.waitFor(async () => {
    expect(await rows('select count(folded_at) as n from turn')).toBe(TURNS);
  });
  expect(await rows('select count(*) as n from turn_event')).toBe(TURNS);
  expect(await rows('select count(request) as n from turn')).toBe(0);
  await later.close();
  await database.close();
});

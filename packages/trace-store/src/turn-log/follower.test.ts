import type { FollowedTurn, TurnLogEntry, TurnNews } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { storeUnavailable } from '../engine/sql-database.ts';
import { Follower } from './follower.ts';
import type { Cursor, News } from './read-news.ts';

/** Hazard: a reader sleeps through news, is read for although it takes nothing, or costs a question of its own. */

type Turn = { turnNo: number; isOver: boolean; entries: TurnLogEntry[] };

function entry(turnId: string, seq: number, kind = 'chunk'): TurnLogEntry {
  return { turnId, seq, epoch: 1, kind, data: null, storedAt: 0 };
}

/** A follower of turns that are lists, and what it asks for. */
function opened() {
  const clock = createFakeClock();
  const turns = new Map<string, Turn>();
  const asked: string[][] = [];
  const limits: number[] = [];
  const listens: string[] = [];
  let answer = (): Promise<void> => Promise.resolve();
  let tell: ((named: string) => void) | null = null;
  const follower = new Follower({
    clock,
    sweepMs: 1_000,
    async read(cursors: readonly Cursor[], maxBytes: number) {
      asked.push(cursors.map(({ turnId, seq }) => `${turnId}${seq}`));
      limits.push(maxBytes);
      const news = cursors.map(({ turnId, seq }): News | undefined => {
        const turn = turns.get(turnId);
        if (turn === undefined) return undefined;
        const { turnNo, isOver, entries } = turn;
        return {
          turnNo,
          isOver,
          isFolded: false,
          lastSeq: entries.length,
          epochAt: entries[seq - 1]?.epoch ?? null,
          entries: entries.slice(seq, seq + 2),
        };
      });
      await answer();
      return news;
    },
    listen: (told) => {
      listens.push('listens');
      tell = told;
      return () => {
        listens.push('stops');
        tell = null;
      };
    },
  });
  const put = (turnId: string, ...kinds: string[]): void => {
    const turn = turns.get(turnId) ?? { turnNo: turns.size + 1, isOver: false, entries: [] };
    turns.set(turnId, turn);
    for (const kind of kinds) turn.entries.push(entry(turnId, turn.entries.length + 1, kind));
    turn.isOver = kinds.includes('done');
  };
  const stop = new AbortController();
  const followAll = (turns: readonly FollowedTurn[]): AsyncIterator<TurnNews> =>
    follower.follow(turns, stop.signal)[Symbol.asyncIterator]();
  const follow = (...turnIds: string[]): AsyncIterator<TurnNews> =>
    followAll(turnIds.map((turnId) => ({ turnId, after: { seq: 0, epoch: null } })));
  return {
    follower,
    clock,
    asked,
    limits,
    listens,
    put,
    forget: (turnId: string) => turns.delete(turnId),
    follow,
    followAll,
    stop,
    tell: (named: string) => tell?.(named),
    answerWith: (next: () => Promise<void>) => {
      answer = next;
    },
  };
}

async function seqOf(reader: AsyncIterator<TurnNews>): Promise<number | string> {
  const next = await reader.next();
  if (next.done === true) return 'over';
  return next.value.kind === 'event' ? next.value.entry.seq : 'reset';
}

/** What has been answered so far, without time passing. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
}

it('asks one question for all readers, and those at one place share it', async () => {
  const { asked, put, follow, follower, limits } = opened();
  put('a', 'chunk');
  put('b', 'chunk');
  const readers = [follow('a'), follow('a'), follow('b'), follow('a', 'b')];
  for (const reader of readers) expect(await seqOf(reader)).toBe(1);
  expect(await seqOf(readers[3] ?? follow())).toBe(1);
  asked.length = 0;
  const all = readers.map(seqOf);
  await settle();
  // What was read is known to be everything.
  expect(asked).toEqual([]);
  put('a', 'chunk');
  put('b', 'chunk');
  follower.wake('a', 2);
  await settle();
  expect(asked).toEqual([['a1']]);
  follower.wake('b', 2);
  expect(await Promise.all(all)).toEqual([2, 2, 2, 2]);
  expect(asked).toEqual([['a1'], ['b1']]);
  expect(new Set(limits)).toEqual(new Set([256 * 1024]));
});

it('says how long readers have been waiting for what is stored', async () => {
  const { put, follow, follower, clock, answerWith } = opened();
  put('a', 'chunk');
  const gate = Promise.withResolvers<void>();
  answerWith(() => gate.promise);
  expect(follower.lag()).toBe(0);
  const read = seqOf(follow('a'));
  await clock.advance(300);
  expect(follower.lag()).toBe(300);
  gate.reject(storeUnavailable('away', { retryable: true }));
  await expect(read).rejects.toThrow('away');
  answerWith(() => Promise.resolve());
  const reader = follow('a');
  expect(await seqOf(reader)).toBe(1);
  expect(follower.lag()).toBe(0);
  // A reader that has everything lacks nothing, however long it waits.
  const next = seqOf(reader);
  await clock.advance(10_000);
  expect(follower.lag()).toBe(0);
  put('a', 'done');
  follower.wake('a', 2);
  expect(await next).toBe(2);
});

it('asks nothing for a reader that does not take what it has', async () => {
  const { asked, put, follow, follower, clock } = opened();
  put('a', 'chunk', 'chunk', 'chunk', 'chunk', 'chunk');
  const reader = follow('a');
  expect(await seqOf(reader)).toBe(1);
  expect(asked).toEqual([['a0']]);
  put('a', 'chunk');
  follower.wake('a', 6);
  await clock.advance(60_000);
  expect(asked).toEqual([['a0']]);
  expect(clock.pending()).toBe(0);
  for (const seq of [2, 3, 4, 5, 6]) expect(await seqOf(reader)).toBe(seq);
  expect(asked).toEqual([['a0'], ['a2'], ['a4']]);
});

it('gives all readers together no more than 4 MiB at once', async () => {
  const { limits, follow, stop } = opened();
  const readers = Array.from({ length: 64 }, (_, index) => seqOf(follow(`turn-${index}`)));
  await settle();
  expect(limits.at(-1)).toBe(Math.ceil((4 * 1024 * 1024) / 64));
  stop.abort();
  expect(new Set(await Promise.all(readers))).toEqual(new Set(['over']));
});

it('asks again for what was named while it asked', async () => {
  const { put, follow, follower, answerWith } = opened();
  const answered = Promise.withResolvers<void>();
  answerWith(() => answered.promise);
  const reading = seqOf(follow('a'));
  await settle();
  // The answer under way does not have it.
  put('a', 'chunk');
  follower.wake('a', 1);
  answerWith(() => Promise.resolve());
  answered.resolve();
  expect(await reading).toBe(1);
});

it('wakes who follows a named turn and has not read so far, and who follows one that was not known', async () => {
  const { put, follow, tell, asked, clock, stop } = opened();
  put('a', 'chunk', 'chunk');
  put('b', 'chunk', 'chunk');
  const readers = [follow('a'), follow('b'), follow('new')];
  for (const reader of readers.slice(0, 2)) {
    expect([await seqOf(reader), await seqOf(reader)]).toEqual([1, 2]);
  }
  const all = readers.map(seqOf);
  await settle();
  asked.length = 0;
  tell('1.2,2.2');
  await settle();
  expect(asked).toEqual([['new0']]);
  tell('2.3,7.9');
  await settle();
  expect(asked.slice(1)).toEqual([['b2', 'new0']]);
  tell('*');
  await settle();
  expect(asked.slice(2)).toEqual([['a2', 'b2', 'new0']]);
  await clock.advance(1_000);
  expect(asked.slice(3)).toEqual([['a2', 'b2', 'new0']]);
  stop.abort();
  await Promise.all(all);
});

it('looks at everything after each sweep time, with one question for 200 idle readers', async () => {
  const { put, follow, asked, clock, stop } = opened();
  for (let turn = 0; turn < 100; turn += 1) put(`turn-${turn}`);
  const all = Array.from({ length: 200 }, (_, index) => seqOf(follow(`turn-${index % 100}`)));
  await settle();
  asked.length = 0;
  await clock.advance(999);
  expect(asked).toEqual([]);
  for (let second = 0; second < 10; second += 1) await clock.advance(1_000);
  expect(asked).toHaveLength(10);
  expect(asked[0]).toHaveLength(100);
  stop.abort();
  await Promise.all(all);
  expect(clock.pending()).toBe(0);
});

it('reports a database that never answered, and waits for one that did', async () => {
  const { put, follow, answerWith, clock, stop } = opened();
  put('a', 'chunk');
  const served = follow('a');
  expect(await seqOf(served)).toBe(1);
  const waiting = seqOf(served);
  const away = storeUnavailable('away', { retryable: true });
  answerWith(() => Promise.reject(away));
  await expect(seqOf(follow('b'))).rejects.toBe(away);
  put('a', 'chunk');
  await clock.advance(1_000);
  await settle();
  answerWith(() => Promise.resolve());
  await clock.advance(1_000);
  expect(await waiting).toBe(2);
  const last = seqOf(served);
  await settle();
  const final = storeUnavailable('closed', { retryable: false });
  answerWith(() => Promise.reject(final));
  const refused = expect(last).rejects.toBe(final);
  await clock.advance(1_000);
  await refused;
  stop.abort();
  expect(clock.pending()).toBe(0);
});

it('listens from the first reader that waits to the last reader, and anew after that', async () => {
  const { put, follow, followAll, listens, clock, stop, follower } = opened();
  put('a', 'chunk', 'done');
  put('b', 'chunk');
  const [one, two] = [follow('a'), follow('b')];
  expect([await seqOf(one), await seqOf(two)]).toEqual([1, 1]);
  const waiting = seqOf(two);
  await settle();
  expect(listens).toEqual(['listens']);
  expect([await seqOf(one), await seqOf(one)]).toEqual([2, 'over']);
  put('b', 'chunk');
  follower.wake('b', 2);
  expect(await waiting).toBe(2);
  expect(listens).toEqual(['listens']);
  await two.return?.();
  expect(listens).toEqual(['listens', 'stops']);
  expect(clock.pending()).toBe(0);
  const last = seqOf(followAll([{ turnId: 'b', after: { seq: 2, epoch: 1 } }]));
  await settle();
  expect(listens).toEqual(['listens', 'stops', 'listens']);
  stop.abort();
  await last;
});

it('does not listen for 20 readers in a row that find what they ask for', async () => {
  const { put, follow, listens, clock } = opened();
  put('a', 'chunk');
  for (let poll = 0; poll < 20; poll += 1) {
    const reader = follow('a');
    expect(await seqOf(reader)).toBe(1);
    await reader.return?.();
  }
  expect(listens).toEqual([]);
  expect(clock.pending()).toBe(0);
});

it('ends after the event done, and where nothing follows in a turn that is over', async () => {
  const { put, follow, asked } = opened();
  put('a', 'done');
  const reader = follow('a');
  expect([await seqOf(reader), await seqOf(reader)]).toEqual([1, 'over']);
  expect(asked).toEqual([['a0']]);
});

it.each([
  ['one event of it', 1],
  ['nothing of it yet', 0],
])('a reader that has %s is told when a failover took the turn back', async (_, read) => {
  const { put, forget, follow, clock } = opened();
  put('a', ...Array.from({ length: read }, () => 'chunk'));
  const reader = follow('a');
  for (let seq = 1; seq <= read; seq += 1) await reader.next();
  const next = reader.next();
  next.catch(() => undefined);
  await clock.advance(0);
  forget('a');
  await clock.advance(1_000);
  await expect(next).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
  expect(clock.pending()).toBe(0);
});

it.each([0, 3])(
  'a reader behind event %i is told when the turn that it has found is gone before it was read',
  async (seq) => {
    const { followAll, clock, put } = opened();
    const after = { seq, epoch: seq === 0 ? null : 1 };
    const gone = followAll([{ turnId: 'a', after, isFound: true }]);
    await expect(gone.next()).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
    // Otherwise it may come.
    const waiting = followAll([{ turnId: 'b', after: { seq: 0, epoch: null } }]);
    const first = seqOf(waiting);
    await clock.advance(1_000);
    put('b', 'chunk');
    await clock.advance(1_000);
    expect(await first).toBe(1);
  },
);

it('says of nobody that they wait, after the store was away for the last reader', async () => {
  const { put, follow, follower, clock, answerWith } = opened();
  put('a', 'chunk');
  answerWith(() => Promise.reject(storeUnavailable('away', { retryable: true })));
  await expect(seqOf(follow('a'))).rejects.toThrow('away');
  await clock.advance(60_000);
  expect(follower.lag()).toBe(0);
});

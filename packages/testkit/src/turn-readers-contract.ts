import type { TurnLogEntry, TurnNews } from '@orion/contracts';
import { expect, test } from 'vitest';
import { done, events } from './turn-log-events.ts';
import type { WithTurnLog } from './turn-log-events.ts';

/** What every turn log keeps to its readers. */
export function describeTurnReaders(withLog: WithTurnLog): void {
  test('a tail gives what is there, then what comes, and ends after done', () =>
    withLog(async (log, turnId, clock) => {
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(turnId, epoch, 1, events(1, 3));
      const tail = log.tail(turnId, 1, new AbortController().signal)[Symbol.asyncIterator]();
      expect(await seqOf(tail)).toBe(2);
      expect(await seqOf(tail)).toBe(3);
      // No time passes: waiting readers are woken.
      const waiting = seqOf(tail);
      await log.append(turnId, epoch, 4, events(4, 1));
      expect(await waiting).toBe(4);
      const end = collectSeqs(tail);
      await log.append(turnId, epoch, 5, [done(5)]);
      expect(await end).toEqual([5]);
      expect(clock.pending()).toBe(0);
    }));

  test('a tail from behind done ends at once', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(turnId, epoch, 1, [done(1)]);
      const { signal } = new AbortController();
      expect(await collectSeqs(log.tail(turnId, 1, signal)[Symbol.asyncIterator]())).toEqual([]);
      expect(await collectSeqs(log.tail(turnId, 0, signal)[Symbol.asyncIterator]())).toEqual([1]);
    }));

  test('an abort ends a tail that waits', () =>
    withLog(async (log, turnId, clock) => {
      const abort = new AbortController();
      const tail = log.tail(turnId, 0, abort.signal)[Symbol.asyncIterator]();
      const all = collectSeqs(tail);
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(turnId, epoch, 1, events(1, 1));
      abort.abort();
      expect([[], [1]]).toContainEqual(await all);
      expect(clock.pending()).toBe(0);
      const late = log.tail(turnId, 0, abort.signal)[Symbol.asyncIterator]();
      expect(await collectSeqs(late)).toEqual([]);
    }));

  test('readers of several turns, slow ones too, each see their own turn once and in order', () =>
    withLog(async (log, turnId) => {
      const ids = [`${turnId}-a`, `${turnId}-b`];
      const { signal } = new AbortController();
      const readers = [...ids, ...ids].map((id) =>
        collectSeqs(log.tail(id, 0, signal)[Symbol.asyncIterator]()),
      );
      const claims = await Promise.all(ids.map((id) => log.acquire(id, 1)));
      for (let seq = 1; seq <= 20; seq++) {
        const kind = seq === 20 ? 'done' : 'chunk';
        for (const claim of claims) {
          await log.append(claim.turnId, claim.epoch, seq, [{ seq, kind, data: null }]);
        }
      }
      const expected = Array.from({ length: 20 }, (_, index) => index + 1);
      expect(await Promise.all(readers)).toEqual(readers.map(() => expected));
    }));

  test('a follower of several turns gives the events of each in order, and ends with the last of them', () =>
    withLog(async (log, turnId, clock) => {
      const claims = [];
      for (const name of ['a', 'b', 'c']) claims.push(await log.acquire(`${turnId}-${name}`, 1));
      const reading = newsOf(
        log.follow(
          claims.map(({ turnId: id }) => ({ turnId: id, after: { seq: 0, epoch: null } })),
          new AbortController().signal,
        ),
      );
      for (let seq = 1; seq <= 6; seq += 1) {
        for (const claim of claims) {
          const event = seq === 6 ? done(seq) : { seq, kind: 'chunk', data: seq };
          await log.append(claim.turnId, claim.epoch, seq, [event]);
        }
      }
      const news = await reading;
      for (const claim of claims) {
        const own = news.filter((each) => each.turnId === claim.turnId);
        expect(own.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
      }
      expect(clock.pending()).toBe(0);
    }));

  test('a reader goes on where it is, by number and owner, or begins anew with a reset (R288)', () =>
    withLog(async (log, turnId) => {
      const first = await log.acquire(turnId, 1);
      await log.append(turnId, first.epoch, 1, events(1, 2));
      const { epoch } = await log.acquire(turnId, 2);
      await log.append(turnId, epoch, 3, [...events(3, 1), done(4)]);
      const whole = [null, 1, 2, 3, 4];
      for (const [after, expected] of [
        [{ seq: 0, epoch: null }, [1, 2, 3, 4]],
        [{ seq: 2, epoch: first.epoch }, [3, 4]],
        [{ seq: 3, epoch }, [4]],
        [{ seq: 4, epoch }, []],
        [{ seq: 2, epoch: null }, [3, 4]],
        [{ seq: 2, epoch }, whole],
        [{ seq: 3, epoch: first.epoch }, whole],
        [{ seq: 5, epoch }, whole],
        [{ seq: 5, epoch: null }, whole],
        [{ seq: Number.MAX_SAFE_INTEGER, epoch: null }, whole],
      ] as const) {
        const news = await newsOf(log.follow([{ turnId, after }], new AbortController().signal));
        expect(news.map(({ seq }) => seq)).toEqual(expected);
      }
    }));

  test('an abort ends a follower, with news at hand and without', () =>
    withLog(async (log, turnId, clock) => {
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(turnId, epoch, 1, events(1, 3));
      const after = { seq: 0, epoch: null };
      const abort = new AbortController();
      const seqs: number[] = [];
      for await (const news of log.follow([{ turnId, after }], abort.signal)) {
        if (news.kind === 'event') seqs.push(news.entry.seq);
        abort.abort();
      }
      expect(seqs).toEqual([1]);
      expect(await newsOf(log.follow([{ turnId, after }], abort.signal))).toEqual([]);
      const late = new AbortController();
      const waiting = newsOf(log.follow([{ turnId: `${turnId}-no`, after }], late.signal));
      late.abort();
      expect(await waiting).toEqual([]);
      expect(await newsOf(log.follow([], new AbortController().signal))).toEqual([]);
      expect(clock.pending()).toBe(0);
    }));

  test('what is far larger than a reader is given at once comes whole and in order', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      const texts = Array.from({ length: 12 }, (_, index) => 'x'.repeat(index * 30_000));
      const large = texts.map((data, index) => ({ seq: index + 1, kind: 'chunk', data }));
      await log.append(turnId, epoch, 1, [...large, ...events(13, 1_500), done(1_513)]);
      const { signal } = new AbortController();
      const sizes: number[] = [];
      for await (const { seq, data } of log.tail(turnId, 0, signal)) {
        if (seq <= 12) sizes.push(typeof data === 'string' ? data.length : -1);
        else expect(seq).toBe(sizes.push(0));
      }
      expect(sizes.slice(0, 12)).toEqual(texts.map(({ length }) => length));
      expect(sizes).toHaveLength(1_513);
    }));

  test('a turn or a place that cannot be does no harm to other readers', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(turnId, epoch, 1, [done(1)]);
      const abort = new AbortController();
      const odd = ['a\u0000b', '\ud800', 'x'.repeat(100_000), ''].map((id) =>
        newsOf(log.follow([{ turnId: id, after: { seq: 2 ** 40, epoch: 2 ** 50 } }], abort.signal)),
      );
      const after = { seq: 0, epoch: null };
      expect(await newsOf(log.follow([{ turnId, after }], abort.signal))).toHaveLength(1);
      abort.abort();
      for (const news of await Promise.all(odd)) expect(news.length).toBeLessThanOrEqual(1);
    }));
}

/** Null stands for a reset. */
async function newsOf(
  following: AsyncIterable<TurnNews>,
): Promise<{ readonly turnId: string; readonly seq: number | null }[]> {
  const all: { readonly turnId: string; readonly seq: number | null }[] = [];
  for await (const news of following) {
    all.push(
      news.kind === 'event'
        ? { turnId: news.entry.turnId, seq: news.entry.seq }
        : { turnId: news.turnId, seq: null },
    );
  }
  return all;
}

async function seqOf(tail: AsyncIterator<TurnLogEntry>): Promise<number> {
  const next = await tail.next();
  if (next.done === true) throw new Error('The tail has ended');
  return next.value.seq;
}

async function collectSeqs(tail: AsyncIterator<TurnLogEntry>): Promise<number[]> {
  const seqs: number[] = [];
  for (;;) {
    const next = await tail.next();
    if (next.done === true) return seqs;
    seqs.push(next.value.seq);
  }
}

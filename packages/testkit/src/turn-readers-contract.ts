import type { TurnLogEntry } from '@orion/contracts';
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

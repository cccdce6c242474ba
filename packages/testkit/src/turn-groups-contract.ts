import type { TurnLogEvent } from '@orion/contracts';
import { expect, test } from 'vitest';
import { done, events } from './turn-log-events.ts';
import type { WithTurnLog } from './turn-log-events.ts';

/** What every turn log keeps when many turns are written at once. */
export function describeTurnGroups(withLog: WithTurnLog): void {
  test('each turn has an outcome of its own, in order, and none keeps another from being stored', () =>
    withLog(async (log, turnId) => {
      const names = ['goes on', 'fenced', 'finished', 'gap', 'repeat', 'torn', 'ends'] as const;
      const epochs: Record<string, number> = {};
      for (const name of names) {
        const { epoch } = await log.acquire(`${turnId}-${name}`, 1);
        epochs[name] = epoch;
        await log.append(`${turnId}-${name}`, epoch, 1, [
          name === 'finished' ? done(1) : { seq: 1, kind: 'chunk', data: name },
        ]);
      }
      await log.acquire(`${turnId}-fenced`, 1);
      const append = (name: string, expectSeq: number, added: readonly TurnLogEvent[]) => ({
        turnId: `${turnId}-${name}`,
        epoch: epochs[name] ?? 0,
        expectSeq,
        events: added,
      });
      const outcomes = await log.appendAll([
        append('gap', 3, events(3, 1)),
        append('torn', 2, [...events(2, 1), ...events(4, 1)]),
        append('fenced', 2, events(2, 1)),
        append('ends', 2, [done(2)]),
        append('finished', 2, events(2, 1)),
        append('repeat', 1, [{ seq: 1, kind: 'chunk', data: 'repeat' }]),
        append('goes on', 2, events(2, 3)),
        append('unknown', 1, events(1, 1)),
      ]);
      expect(outcomes).toEqual([
        { kind: 'gap', lastSeq: 1 },
        { kind: 'gap', lastSeq: 1 },
        { kind: 'fenced' },
        { kind: 'stored', lastSeq: 2, cancelRequested: false },
        { kind: 'finished' },
        { kind: 'stored', lastSeq: 1, cancelRequested: false },
        { kind: 'stored', lastSeq: 4, cancelRequested: false },
        { kind: 'fenced' },
      ]);
      const lengths = await Promise.all(
        names.map(async (name) => (await log.read(`${turnId}-${name}`, 0)).length),
      );
      expect(lengths).toEqual([4, 1, 1, 1, 1, 1, 2]);
      expect(await log.appendAll([])).toEqual([]);
    }));

  test('two appends of one turn are stored one after the other', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      const other = await log.acquire(`${turnId}-other`, 1);
      const stored = (lastSeq: number) => ({ kind: 'stored', lastSeq, cancelRequested: false });
      expect(
        await log.appendAll([
          { turnId, epoch, expectSeq: 1, events: events(1, 2) },
          { ...other, expectSeq: 1, events: events(1, 1) },
          { turnId, epoch, expectSeq: 3, events: events(3, 1) },
        ]),
      ).toEqual([stored(2), stored(1), stored(3)]);
    }));

  test('many turns at once, by two who do not know of each other: everything of the owner is stored', () =>
    withLog(async (log, turnId) => {
      const ids = Array.from({ length: 40 }, (_, index) => `${turnId}-${index}`);
      const old = await Promise.all(ids.map((id) => log.acquire(id, 1)));
      const owners = await Promise.all(ids.map((id) => log.acquire(id, 2)));
      const round = (claims: typeof owners, seq: number) =>
        log.appendAll(
          claims.map((claim) => ({ ...claim, expectSeq: seq, events: events(seq, 2) })),
        );
      for (let seq = 1; seq < 10; seq += 2) {
        const [refused, stored] = await Promise.all([
          round(old.toReversed(), seq),
          round(owners, seq),
        ]);
        expect(new Set(refused.map(({ kind }) => kind))).toEqual(new Set(['fenced']));
        expect(new Set(stored.map(({ kind }) => kind))).toEqual(new Set(['stored']));
      }
      for (const id of ids) expect(await log.read(id, 0)).toHaveLength(10);
    }));
}

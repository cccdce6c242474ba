import { OrionError } from '@orion/contracts';
import type { AppendOutcome, Clock, JsonValue, TurnClaim, TurnLog } from '@orion/contracts';
import fastCheck from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';
import { describeTurnGroups } from './turn-groups-contract.ts';
import { done, events } from './turn-log-events.ts';
import type { WithTurnLog } from './turn-log-events.ts';
import { describeTurnReaders } from './turn-readers-contract.ts';

export type TurnLogFactory = (options: { readonly clock: Clock }) => Promise<{
  readonly turnLog: TurnLog;
  close(): Promise<void>;
}>;

/**
 * What every turn log keeps.
 *
 * 1. A turn has one owner: an acquire gives an epoch that is higher than any before, and an append with any other epoch
 *    than the turn's is refused and changes nothing.
 * 2. A turn that is over is never acquired, and nothing follows its `done`.
 * 3. The numbers of a turn are 1, 2, 3 … without gaps, each once, even with concurrent appends.
 * 4. A repeat of an append that went in is recognised and changes nothing; other events with taken numbers are
 *    refused.
 * 5. What comes back is what was appended, whatever the text in it.
 * 6. A tail gives every event once and in order, ends after `done` and on abort, and leaves no timer behind.
 */
export function describeTurnLogContract(name: string, factory: TurnLogFactory): void {
  describe(`turn log contract: ${name}`, () => {
    let turns = 0;
    const withLog: WithTurnLog = async (use) => {
      const clock = createFakeClock(1_000_000);
      const opened = await factory({ clock });
      try {
        turns += 1;
        await use(opened.turnLog, `turn-${turns}`, clock);
      } finally {
        await opened.close();
      }
    };
    describe('owners', () => describeOwners(withLog));
    describe('appends', () => describeAppends(withLog));
    describe('appends of several turns', () => describeTurnGroups(withLog));
    describe('readers', () => describeTurnReaders(withLog));
  });
}

function describeOwners(withLog: WithTurnLog): void {
  test('every acquire gives a higher epoch, also one of the same attempt (O1)', () =>
    withLog(async (log, turnId) => {
      expect(await log.epochOf(turnId)).toBe(0);
      const epochs = [0];
      for (const attempt of [1, 1, 2, 7, null]) {
        const claim = await log.acquire(turnId, attempt);
        const { epoch, idleAttempts } = claim;
        expect(claim).toEqual({ turnId, epoch, lastSeq: 0, checkpoint: null, idleAttempts });
        expect(Number.isSafeInteger(claim.epoch)).toBe(true);
        expect(claim.epoch).toBeGreaterThan(epochs.at(-1) ?? 0);
        expect(await log.epochOf(turnId)).toBe(claim.epoch);
        epochs.push(claim.epoch);
      }
      expect(await log.epochOf(`${turnId}-other`)).toBe(0);
    }));

  test('attempts are counted from a checkpoint on, but the first, once each, and not who only ends the turn', () =>
    withLog(async (log, turnId) => {
      const idle = async (attempt: number | null): Promise<number> =>
        (await log.acquire(turnId, attempt)).idleAttempts;
      expect([await idle(1), await idle(1), await idle(null), await idle(2)]).toEqual([1, 1, 1, 2]);
      const { epoch } = await log.acquire(turnId, 3);
      await log.append(turnId, epoch, 1, events(1, 1));
      expect(await idle(4)).toBe(4);
      let attempt = 4;
      for (const [first, others, after] of [
        // Where it begins.
        [2, [], 6],
        [3, [], 1],
        [4, [`${turnId}-other`], 1],
      ] as const) {
        const last = await log.acquire(turnId, (attempt += 1));
        const owners = [last];
        for (const other of others) owners.push(await log.acquire(other, 1));
        await log.appendAll(
          owners.map((owner) => ({
            turnId: owner.turnId,
            epoch: owner.epoch,
            expectSeq: owner === last ? first : 1,
            events: events(owner === last ? first : 1, 1),
            ...(owner === last ? { checkpoint: { at: first } } : {}),
          })),
        );
        expect(await idle((attempt += 1))).toBe(after);
      }
      // The other one stored no checkpoint.
      expect((await log.acquire(`${turnId}-other`, 2)).idleAttempts).toBe(2);
    }));

  test('whoever may not begin a turn makes none, and takes one that there is (O1)', () =>
    withLog(async (log, turnId) => {
      const taken = (attempt: number | null): Promise<TurnClaim> =>
        log.acquire(turnId, attempt, { mayBegin: false });
      for (const attempt of [1, null]) expect(await codeOf(taken(attempt))).toBe('TURN_NOT_FOUND');
      expect(await log.epochOf(turnId)).toBe(0);
      const { epoch } = await log.acquire(turnId, 2);
      expect(await codeOf(taken(1))).toBe('FENCED');
      const next = await taken(3);
      expect(next.epoch).toBeGreaterThan(epoch);
      expect(next).toMatchObject({ turnId, lastSeq: 0, idleAttempts: 2 });
      await log.append(turnId, next.epoch, 1, [{ seq: 1, kind: 'done', data: {} }]);
      expect(await codeOf(taken(4))).toBe('TURN_FINISHED');
    }));

  test('a late acquire of an earlier attempt is refused and changes nothing; one without an attempt never is (O1)', () =>
    withLog(async (log, turnId) => {
      await log.acquire(turnId, 1);
      const { epoch } = await log.acquire(turnId, 3);
      for (const late of [1, 2]) {
        expect(await codeOf(log.acquire(turnId, late))).toBe('FENCED');
      }
      expect(await log.append(turnId, epoch, 1, events(1, 1))).toBe(1);
      const canceller = await log.acquire(turnId, null);
      expect(await codeOf(log.append(turnId, epoch, 2, events(2, 1)))).toBe('FENCED');
      expect(await log.append(turnId, canceller.epoch, 2, events(2, 1))).toBe(2);
      expect(await codeOf(log.acquire(turnId, 2))).toBe('FENCED');
      await log.acquire(turnId, 3);
    }));

  test('of many who acquire a turn at once, each has an epoch of its own, and one can write', () =>
    withLog(async (log, turnId) => {
      const claims = await Promise.all(Array.from({ length: 8 }, () => log.acquire(turnId, 1)));
      expect(new Set(claims.map(({ epoch }) => epoch)).size).toBe(8);
      const outcomes = await Promise.all(
        claims.map(({ epoch }) => codeOf(log.append(turnId, epoch, 1, events(1, 1)))),
      );
      expect(outcomes.filter((code) => code === null)).toHaveLength(1);
      expect(outcomes.filter((code) => code === 'FENCED')).toHaveLength(7);
    }));

  test('epochs do not come again by counting: two new turns have different ones (O1)', () =>
    withLog(async (log, turnId) => {
      const epochs = await Promise.all(
        Array.from({ length: 4 }, async (_, index) => {
          return (await log.acquire(`${turnId}-${index}`, 1)).epoch;
        }),
      );
      // Of a million numbers each; four that are all equal are no accident.
      expect(new Set(epochs).size).toBeGreaterThan(1);
    }));

  test('who acquires a turn learns where it is, and the newest checkpoint', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      const put = (expectSeq: number, checkpoint?: JsonValue) =>
        log.appendAll([
          {
            turnId,
            epoch,
            expectSeq,
            events: events(expectSeq, 1),
            ...(checkpoint === undefined ? {} : { checkpoint }),
          },
        ]);
      await put(1, { messages: 1, text: 'a\u0000\ud800' });
      await put(2);
      expect(await log.acquire(turnId, 2)).toMatchObject({
        lastSeq: 2,
        checkpoint: { messages: 1, text: 'a\u0000\ud800' },
      });
    }));

  test('a checkpoint that was not stored with its events is not there', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      const append = { turnId, epoch, expectSeq: 2, events: events(2, 1), checkpoint: 'no' };
      expect(await log.appendAll([append])).toEqual([{ kind: 'gap', lastSeq: 0 }]);
      expect((await log.acquire(turnId, 1)).checkpoint).toBeNull();
    }));

  test('a turn that is over is not acquired, and nothing follows its done (O3)', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(turnId, epoch, 1, [...events(1, 1), done(2)]);
      for (const attempt of [1, 2, null]) {
        expect(await codeOf(log.acquire(turnId, attempt))).toBe('TURN_FINISHED');
      }
      expect(await codeOf(log.append(turnId, epoch, 3, [done(3)]))).toBe('TURN_FINISHED');
      expect(await codeOf(log.append(turnId, epoch, 3, []))).toBe('TURN_FINISHED');
      expect(await log.requestCancel(turnId)).toBe(false);
      // What was answered to nobody was stored all the same.
      expect(await log.append(turnId, epoch, 1, [...events(1, 1), done(2)])).toBe(2);
      expect((await log.read(turnId, 0)).map(({ kind }) => kind)).toEqual(['chunk', 'done']);
      expect(await log.epochOf(turnId)).toBe(epoch);
    }));

  test('an owner whose turn was acquired is refused, its repeats too, and changes nothing (O5)', () =>
    withLog(async (log, turnId) => {
      const first = await log.acquire(turnId, 1);
      await log.append(turnId, first.epoch, 1, events(1, 2));
      const second = await log.acquire(turnId, 2);
      expect(second.lastSeq).toBe(2);
      for (const expectSeq of [1, 3]) {
        const append = log.append(turnId, first.epoch, expectSeq, events(expectSeq, 2));
        expect(await codeOf(append)).toBe('FENCED');
      }
      const unknown = log.append(turnId, second.epoch + 1, 3, events(3, 1));
      expect(await codeOf(unknown)).toBe('FENCED');
      expect(await log.append(turnId, second.epoch, 3, events(3, 1))).toBe(3);
      expect((await log.read(turnId, 0)).map((entry) => entry.epoch)).toEqual([
        first.epoch,
        first.epoch,
        second.epoch,
      ]);
    }));

  test('from the moment of a takeover on, nothing of the old owner goes in', () =>
    withLog(async (log, turnId) => {
      for (let round = 0; round < 10; round++) {
        const id = `${turnId}-${round}`;
        const old = await log.acquire(id, 1);
        const writing = Promise.all(
          Array.from({ length: 3 }, async () => {
            for (let seq = 1; seq <= 100;) {
              const code = await codeOf(log.append(id, old.epoch, seq, events(seq, 1)));
              if (code === 'FENCED') return;
              seq += 1;
            }
          }),
        );
        const { epoch, lastSeq } = await log.acquire(id, 2);
        const before = await log.read(id, 0);
        expect(lastSeq).toBe(before.length);
        await log.append(id, epoch, lastSeq + 1, events(lastSeq + 1, 1));
        await writing;
        const after = await log.read(id, 0);
        expect(after.slice(0, -1)).toEqual(before);
        expect(after.at(-1)?.epoch).toBe(epoch);
      }
    }));

  test('who has not acquired a turn appends nothing to it', () =>
    withLog(async (log, turnId) => {
      for (const epoch of [0, 1]) {
        expect(await codeOf(log.append(turnId, epoch, 1, events(1, 1)))).toBe('FENCED');
      }
      expect(await log.read(turnId, 0)).toEqual([]);
    }));

  test('who asks for the end of a turn is heard by its owner, whoever that is', () =>
    withLog(async (log, turnId) => {
      expect(await log.requestCancel(turnId)).toBe(false);
      const first = await log.acquire(turnId, 1);
      const ask = async (epoch: number): Promise<readonly AppendOutcome[]> =>
        log.appendAll([{ turnId, epoch, expectSeq: 1, events: [] }]);
      expect(await ask(first.epoch)).toEqual([
        { kind: 'stored', lastSeq: 0, cancelRequested: false },
      ]);
      expect(await log.requestCancel(turnId)).toBe(true);
      expect(await log.requestCancel(turnId)).toBe(true);
      const asked = [{ kind: 'stored', lastSeq: 0, cancelRequested: true }];
      expect(await ask(first.epoch)).toEqual(asked);
      const second = await log.acquire(turnId, 2);
      expect(await ask(second.epoch)).toEqual(asked);
      expect(await ask(first.epoch)).toEqual([{ kind: 'fenced' }]);
    }));
}

function describeAppends(withLog: WithTurnLog): void {
  test('the events of a turn are read in order, after any number, up to a limit', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      expect(await log.append(turnId, epoch, 1, events(1, 3))).toBe(3);
      expect(await log.append(turnId, epoch, 4, events(4, 2))).toBe(5);
      const all = await log.read(turnId, 0);
      const storedAt = all[0]?.storedAt ?? 0;
      expect(all[0]).toEqual({
        turnId,
        epoch,
        seq: 1,
        kind: 'chunk',
        data: { text: 'text 1' },
        storedAt,
      });
      // By the clock of the store, not by that of this process (O2).
      expect(Math.abs(storedAt - Date.now())).toBeLessThan(600_000);
      expect(all.map((entry) => entry.seq)).toEqual([1, 2, 3, 4, 5]);
      expect((await log.read(turnId, 3)).map((entry) => entry.seq)).toEqual([4, 5]);
      expect((await log.read(turnId, 1, 2)).map((entry) => entry.seq)).toEqual([2, 3]);
      expect(await log.read(turnId, 1, 0)).toEqual([]);
      expect(await log.read(turnId, 5)).toEqual([]);
      // No turn gets as far, but a client may say so.
      for (const seq of [2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER, 1e300]) {
        expect(await log.read(turnId, seq)).toEqual([]);
      }
      expect(await log.read(`${turnId}-other`, 0)).toEqual([]);
    }));

  test('many events go in at once; a thousand are read at a time', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      expect(await log.append(turnId, epoch, 1, events(1, 2_500))).toBe(2_500);
      expect(await log.read(turnId, 0)).toHaveLength(1_000);
      expect((await log.read(turnId, 2_000)).at(-1)?.seq).toBe(2_500);
    }));

  test('an append that does not follow the last event is refused and changes nothing', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      expect(await codeOf(log.append(turnId, epoch, 2, events(2, 1)))).toBe('TURN_LOG_GAP');
      await log.append(turnId, epoch, 1, events(1, 2));
      const torn = [...events(3, 1), ...events(5, 1)];
      for (const [expectSeq, appended] of [
        [4, events(4, 1)],
        [4, []],
        [3, torn],
        [3, events(4, 1)],
      ] as const) {
        const append = log.append(turnId, epoch, expectSeq, appended);
        expect(await codeOf(append)).toBe('TURN_LOG_GAP');
      }
      expect((await log.read(turnId, 0)).map((entry) => entry.seq)).toEqual([1, 2]);
    }));

  test('a repeated append is recognised, also when the turn has gone on', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(turnId, epoch, 1, events(1, 2));
      expect(await log.append(turnId, epoch, 1, events(1, 2))).toBe(2);
      await log.append(turnId, epoch, 3, events(3, 2));
      expect(await log.append(turnId, epoch, 1, events(1, 2))).toBe(4);
      expect(await log.append(turnId, epoch, 3, events(3, 2))).toBe(4);
      expect((await log.read(turnId, 0)).map((entry) => entry.seq)).toEqual([1, 2, 3, 4]);
    }));

  test('other events with taken numbers are no repeat', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(turnId, epoch, 1, events(1, 2));
      const other = [{ seq: 2, kind: 'chunk', data: { text: 'another' } }];
      const kind = [{ seq: 2, kind: 'usage', data: { text: 'text 2' } }];
      const longer = events(1, 3);
      for (const taken of [other, kind, longer]) {
        const first = taken[0]?.seq ?? 0;
        expect(await codeOf(log.append(turnId, epoch, first, taken))).toBe('TURN_LOG_GAP');
      }
      // The same events of the owner before are not this owner's.
      const next = await log.acquire(turnId, 2);
      expect(await codeOf(log.append(turnId, next.epoch, 1, events(1, 2)))).toBe('TURN_LOG_GAP');
      expect((await log.read(turnId, 0)).map(({ data }) => data)).toEqual(
        events(1, 2).map(({ data }) => data),
      );
    }));

  test('of two who append at once, one has the number; of two equal appends, both', () =>
    withLog(async (log, turnId) => {
      const { epoch } = await log.acquire(turnId, 1);
      const racing = await Promise.all(
        ['a', 'b', 'c', 'd'].map((text) =>
          codeOf(log.append(turnId, epoch, 1, [{ seq: 1, kind: 'chunk', data: { text } }])),
        ),
      );
      expect(racing.filter((code) => code === null)).toHaveLength(1);
      expect(racing.filter((code) => code === 'TURN_LOG_GAP')).toHaveLength(3);
      const equal = await Promise.all(
        Array.from({ length: 4 }, () => log.append(turnId, epoch, 2, events(2, 3))),
      );
      expect(equal).toEqual([4, 4, 4, 4]);
      expect((await log.read(turnId, 0)).map((entry) => entry.seq)).toEqual([1, 2, 3, 4]);
    }));

  test('any text comes back as it was (B24)', () =>
    withLog(async (log, turnId) => {
      const data: JsonValue[] = [
        'a\u0000b',
        '\ud800 alone \udc00',
        { '\u0000': { '\ud800': '\\u0000' } },
        '{"not":"parsed"}',
        [1, [2, [3.5e300, null, true]], ''],
        'x'.repeat(1_000_000),
        "'; drop table turn; -- $1 ::text",
      ];
      const { epoch } = await log.acquire(turnId, 1);
      await log.append(
        turnId,
        epoch,
        1,
        data.map((value, index) => ({ seq: index + 1, kind: 'chunk', data: value })),
      );
      expect((await log.read(turnId, 0)).map((entry) => entry.data)).toEqual(data);
    }));

  test('whatever owners do, the log is what a list with one lock would be', () =>
    withLog(async (log, turnId) => {
      let run = 0;
      const step = fastCheck.record({
        acquire: fastCheck.boolean(),
        owner: fastCheck.integer({ min: 0, max: 3 }),
        from: fastCheck.integer({ min: 1, max: 6 }),
        count: fastCheck.integer({ min: 1, max: 3 }),
        kind: fastCheck.constantFrom('a', 'b', 'a', 'b', 'done'),
      });
      await fastCheck.assert(
        fastCheck.asyncProperty(fastCheck.array(step, { maxLength: 10 }), async (steps) => {
          run += 1;
          const id = `${turnId}-run-${run}`;
          const epochs = [0];
          const model: { epoch: number; kind: string }[] = [];
          for (const { acquire, owner, from, count, kind } of steps) {
            const isOver = model.some((entry) => entry.kind === 'done');
            const mine = epochs[Math.min(owner, epochs.length - 1)] ?? 0;
            if (acquire) {
              const claim = await log.acquire(id, null).catch(codeOfError);
              if (isOver) expect(claim).toBe('TURN_FINISHED');
              else epochs.push(typeof claim === 'string' ? 0 : claim.epoch);
              continue;
            }
            const made = events(from, count).map((event) => ({ ...event, kind, data: null }));
            const taken = model.slice(from - 1, from - 1 + count);
            const repeat =
              taken.length === count &&
              taken.every((entry) => entry.epoch === mine && entry.kind === kind);
            const follows = !isOver && from === model.length + 1;
            const isOwner = mine === epochs.at(-1) && mine > 0;
            const refusal = isOver ? 'TURN_FINISHED' : 'TURN_LOG_GAP';
            const code = !isOwner ? 'FENCED' : follows || repeat ? null : refusal;
            expect(await codeOf(log.append(id, mine, from, made))).toBe(code);
            if (isOwner && follows) model.push(...made.map(() => ({ epoch: mine, kind })));
          }
          expect(
            (await log.read(id, 0)).map(({ seq, epoch, kind }) => ({ seq, epoch, kind })),
          ).toEqual(model.map((entry, index) => ({ seq: index + 1, ...entry })));
        }),
        { numRuns: 25 },
      );
    }));
}

/** Null when it worked. */
async function codeOf(result: Promise<unknown>): Promise<string | null> {
  return result.then(() => null, codeOfError);
}

function codeOfError(error: unknown): string {
  if (OrionError.isInstance(error)) return error.code;
  throw error;
}

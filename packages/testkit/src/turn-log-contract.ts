import { OrionError } from '@orion/contracts';
import type { Clock, JsonValue, TurnLog, TurnLogEntry, TurnLogEvent } from '@orion/contracts';
import fastCheck from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';

/**
 * What every turn log keeps.
 *
 * 1. A turn has one writer: an epoch that is not higher takes nothing, and an append of any other epoch than the
 *    turn's is refused and changes nothing.
 * 2. The numbers of a turn are 1, 2, 3 … without gaps, each once, even with concurrent appends.
 * 3. A repeat of an append that went in is recognised and changes nothing; other events with taken numbers are
 *    refused.
 * 4. What comes back is what was appended, whatever the text in it.
 * 5. A tail gives every event once and in order, ends after `done` and on abort, and leaves no timer behind.
 */
export function describeTurnLogContract(
  name: string,
  factory: (options: { readonly clock: Clock }) => Promise<{
    readonly turnLog: TurnLog;
    close(): Promise<void>;
  }>,
): void {
  describe(`turn log contract: ${name}`, () => {
    let turns = 0;
    const withLog = async (
      use: (
        log: TurnLog,
        turnId: string,
        clock: ReturnType<typeof createFakeClock>,
      ) => Promise<void>,
    ): Promise<void> => {
      const clock = createFakeClock(1_000_000);
      const opened = await factory({ clock });
      try {
        turns += 1;
        await use(opened.turnLog, `turn-${turns}`, clock);
      } finally {
        await opened.close();
      }
    };

    test('a turn is taken with a higher epoch only', () =>
      withLog(async (log, turnId) => {
        expect(await log.epochOf(turnId)).toBe(0);
        expect(await codeOf(log.acquire(turnId, 0))).toBe('FENCED');
        await log.acquire(turnId, 1);
        expect(await codeOf(log.acquire(turnId, 1))).toBe('FENCED');
        await log.acquire(turnId, 7);
        expect(await codeOf(log.acquire(turnId, 6))).toBe('FENCED');
        expect(await log.epochOf(turnId)).toBe(7);
        expect(await log.epochOf(`${turnId}-other`)).toBe(0);
      }));

    test('of many who take a turn at once with one epoch, one has it', () =>
      withLog(async (log, turnId) => {
        const codes = await Promise.all(
          Array.from({ length: 8 }, () => codeOf(log.acquire(turnId, 1))),
        );
        expect(codes.filter((code) => code === null)).toHaveLength(1);
      }));

    test('the events of a turn are read in order, after any number, up to a limit', () =>
      withLog(async (log, turnId, clock) => {
        await log.acquire(turnId, 1);
        expect(await log.append(turnId, 1, 1, events(1, 3))).toBe(3);
        await clock.advance(5);
        expect(await log.append(turnId, 1, 4, events(4, 2))).toBe(5);
        const all = await log.read(turnId, 0);
        expect(all[0]).toEqual({
          turnId,
          epoch: 1,
          seq: 1,
          kind: 'chunk',
          data: { text: 'text 1' },
          storedAt: 1_000_000,
        });
        expect(all.map((entry) => entry.seq)).toEqual([1, 2, 3, 4, 5]);
        expect(all[4]?.storedAt).toBe(1_000_005);
        expect((await log.read(turnId, 3)).map((entry) => entry.seq)).toEqual([4, 5]);
        expect((await log.read(turnId, 1, 2)).map((entry) => entry.seq)).toEqual([2, 3]);
        expect(await log.read(turnId, 1, 0)).toEqual([]);
        expect(await log.read(turnId, 5)).toEqual([]);
        expect(await log.read(`${turnId}-other`, 0)).toEqual([]);
      }));

    test('many events go in at once; a thousand are read at a time', () =>
      withLog(async (log, turnId) => {
        await log.acquire(turnId, 1);
        expect(await log.append(turnId, 1, 1, events(1, 2_500))).toBe(2_500);
        expect(await log.read(turnId, 0)).toHaveLength(1_000);
        expect((await log.read(turnId, 2_000)).at(-1)?.seq).toBe(2_500);
      }));

    test('a writer whose turn was taken over is refused, its repeats too, and changes nothing', () =>
      withLog(async (log, turnId) => {
        await log.acquire(turnId, 1);
        await log.append(turnId, 1, 1, events(1, 2));
        await log.acquire(turnId, 2);
        expect(await codeOf(log.append(turnId, 1, 3, events(3, 1)))).toBe('FENCED');
        expect(await codeOf(log.append(turnId, 1, 1, events(1, 2)))).toBe('FENCED');
        expect(await codeOf(log.append(turnId, 3, 3, events(3, 1)))).toBe('FENCED');
        expect(await log.append(turnId, 2, 3, events(3, 1))).toBe(3);
        expect((await log.read(turnId, 0)).map((entry) => entry.epoch)).toEqual([1, 1, 2]);
      }));

    test('from the moment of a takeover on, nothing of the old writer goes in', () =>
      withLog(async (log, turnId) => {
        for (let round = 0; round < 10; round++) {
          const id = `${turnId}-${round}`;
          await log.acquire(id, 1);
          const writing = Promise.all(
            Array.from({ length: 3 }, async () => {
              for (let seq = 1; seq <= 100;) {
                const code = await codeOf(log.append(id, 1, seq, events(seq, 1)));
                if (code === 'FENCED') return;
                seq += 1;
              }
            }),
          );
          await log.acquire(id, 2);
          const before = await log.read(id, 0);
          await log.append(id, 2, before.length + 1, events(before.length + 1, 1));
          await writing;
          const after = await log.read(id, 0);
          expect(after.slice(0, -1)).toEqual(before);
          expect(after.at(-1)?.epoch).toBe(2);
        }
      }));

    test('who has not taken a turn appends nothing to it', () =>
      withLog(async (log, turnId) => {
        expect(await codeOf(log.append(turnId, 0, 1, events(1, 1)))).toBe('FENCED');
        expect(await codeOf(log.append(turnId, 1, 1, events(1, 1)))).toBe('FENCED');
        expect(await log.read(turnId, 0)).toEqual([]);
      }));

    test('an append that does not follow the last event is refused and changes nothing', () =>
      withLog(async (log, turnId) => {
        await log.acquire(turnId, 1);
        expect(await codeOf(log.append(turnId, 1, 2, events(2, 1)))).toBe('TURN_LOG_GAP');
        await log.append(turnId, 1, 1, events(1, 2));
        expect(await codeOf(log.append(turnId, 1, 4, events(4, 1)))).toBe('TURN_LOG_GAP');
        const torn = [...events(3, 1), ...events(5, 1)];
        expect(await codeOf(log.append(turnId, 1, 3, torn))).toBe('TURN_LOG_GAP');
        expect(await codeOf(log.append(turnId, 1, 3, events(4, 1)))).toBe('TURN_LOG_GAP');
        expect((await log.read(turnId, 0)).map((entry) => entry.seq)).toEqual([1, 2]);
      }));

    test('a repeated append is recognised, also when the turn has gone on', () =>
      withLog(async (log, turnId) => {
        await log.acquire(turnId, 1);
        await log.append(turnId, 1, 1, events(1, 2));
        expect(await log.append(turnId, 1, 1, events(1, 2))).toBe(2);
        await log.append(turnId, 1, 3, events(3, 2));
        expect(await log.append(turnId, 1, 1, events(1, 2))).toBe(4);
        expect(await log.append(turnId, 1, 3, events(3, 2))).toBe(4);
        expect((await log.read(turnId, 0)).map((entry) => entry.seq)).toEqual([1, 2, 3, 4]);
      }));

    test('other events with taken numbers are no repeat', () =>
      withLog(async (log, turnId) => {
        await log.acquire(turnId, 1);
        await log.append(turnId, 1, 1, events(1, 2));
        const other = [{ seq: 2, kind: 'chunk', data: { text: 'another' } }];
        const longer = events(1, 3);
        for (const taken of [other, longer]) {
          const first = taken[0]?.seq ?? 0;
          expect(await codeOf(log.append(turnId, 1, first, taken))).toBe('TURN_LOG_GAP');
        }
        // The same events of the writer before are not this writer's.
        await log.acquire(turnId, 2);
        expect(await codeOf(log.append(turnId, 2, 1, events(1, 2)))).toBe('TURN_LOG_GAP');
        expect(await textsOf(log, turnId)).toEqual(['text 1', 'text 2']);
      }));

    test('of two who append at once, one has the number; of two equal appends, both', () =>
      withLog(async (log, turnId) => {
        await log.acquire(turnId, 1);
        const racing = await Promise.all(
          ['a', 'b', 'c', 'd'].map((text) =>
            codeOf(log.append(turnId, 1, 1, [{ seq: 1, kind: 'chunk', data: { text } }])),
          ),
        );
        expect(racing.filter((code) => code === null)).toHaveLength(1);
        expect(racing.filter((code) => code === 'TURN_LOG_GAP')).toHaveLength(3);
        const equal = await Promise.all(
          Array.from({ length: 4 }, () => log.append(turnId, 1, 2, events(2, 3))),
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
        await log.acquire(turnId, 1);
        await log.append(
          turnId,
          1,
          1,
          data.map((value, index) => ({ seq: index + 1, kind: 'chunk', data: value })),
        );
        expect((await log.read(turnId, 0)).map((entry) => entry.data)).toEqual(data);
      }));

    test('whatever writers do, the log is what a list with one lock would be', () =>
      withLog(async (log, turnId) => {
        let run = 0;
        const step = fastCheck.record({
          take: fastCheck.boolean(),
          epoch: fastCheck.integer({ min: 0, max: 3 }),
          from: fastCheck.integer({ min: 1, max: 6 }),
          count: fastCheck.integer({ min: 1, max: 3 }),
          text: fastCheck.constantFrom('a', 'b'),
        });
        await fastCheck.assert(
          fastCheck.asyncProperty(fastCheck.array(step, { maxLength: 10 }), async (steps) => {
            run += 1;
            const id = `${turnId}-run-${run}`;
            let epoch = 0;
            const model: { epoch: number; text: string }[] = [];
            for (const { take, epoch: mine, from, count, text } of steps) {
              if (take) {
                expect(await codeOf(log.acquire(id, mine))).toBe(mine > epoch ? null : 'FENCED');
                epoch = Math.max(epoch, mine);
                continue;
              }
              const made = Array.from({ length: count }, (_, index) => ({
                seq: from + index,
                kind: 'chunk',
                data: text,
              }));
              const taken = model.slice(from - 1, from - 1 + count);
              const repeat =
                taken.length === count &&
                taken.every((entry) => entry.epoch === mine && entry.text === text);
              const follows = from === model.length + 1;
              const owner = mine === epoch && mine > 0;
              const code = !owner ? 'FENCED' : follows || repeat ? null : 'TURN_LOG_GAP';
              expect(await codeOf(log.append(id, mine, from, made))).toBe(code);
              if (owner && follows) model.push(...made.map(() => ({ epoch: mine, text })));
            }
            const entries = await log.read(id, 0);
            expect(entries.map((entry) => entry.seq)).toEqual(model.map((_, index) => index + 1));
            expect(entries.map((entry) => [entry.epoch, entry.data])).toEqual(
              model.map((entry) => [entry.epoch, entry.text]),
            );
          }),
          { numRuns: 25 },
        );
      }));

    test('a tail gives what is there, then what comes, and ends after done', () =>
      withLog(async (log, turnId, clock) => {
        await log.acquire(turnId, 1);
        await log.append(turnId, 1, 1, events(1, 3));
        const tail = log.tail(turnId, 1, new AbortController().signal)[Symbol.asyncIterator]();
        expect(await seqOf(tail)).toBe(2);
        expect(await seqOf(tail)).toBe(3);
        // No time passes: waiting readers are woken.
        const waiting = seqOf(tail);
        await log.append(turnId, 1, 4, events(4, 1));
        expect(await waiting).toBe(4);
        const end = collectSeqs(tail);
        await log.append(turnId, 1, 5, [{ seq: 5, kind: 'done', data: {} }]);
        expect(await end).toEqual([5]);
        expect(clock.pending()).toBe(0);
      }));

    test('a tail from behind done ends at once', () =>
      withLog(async (log, turnId) => {
        await log.acquire(turnId, 1);
        await log.append(turnId, 1, 1, [{ seq: 1, kind: 'done', data: {} }]);
        const { signal } = new AbortController();
        expect(await collectSeqs(log.tail(turnId, 1, signal)[Symbol.asyncIterator]())).toEqual([]);
        expect(await collectSeqs(log.tail(turnId, 0, signal)[Symbol.asyncIterator]())).toEqual([1]);
      }));

    test('an abort ends a tail that waits', () =>
      withLog(async (log, turnId, clock) => {
        const abort = new AbortController();
        const tail = log.tail(turnId, 0, abort.signal)[Symbol.asyncIterator]();
        const all = collectSeqs(tail);
        await log.acquire(turnId, 1);
        await log.append(turnId, 1, 1, events(1, 1));
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
        for (const id of ids) await log.acquire(id, 1);
        for (let seq = 1; seq <= 20; seq++) {
          const kind = seq === 20 ? 'done' : 'chunk';
          for (const id of ids) await log.append(id, 1, seq, [{ seq, kind, data: null }]);
        }
        const expected = Array.from({ length: 20 }, (_, index) => index + 1);
        expect(await Promise.all(readers)).toEqual(readers.map(() => expected));
      }));
  });
}

function events(from: number, count: number): TurnLogEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: from + index,
    kind: 'chunk',
    data: { text: `text ${from + index}` },
  }));
}

async function textsOf(log: TurnLog, turnId: string): Promise<unknown[]> {
  return (await log.read(turnId, 0)).map((entry) =>
    typeof entry.data === 'object' && entry.data !== null && 'text' in entry.data
      ? entry.data.text
      : entry.data,
  );
}

/** Null when it worked. */
async function codeOf(result: Promise<unknown>): Promise<string | null> {
  try {
    await result;
    return null;
  } catch (error) {
    if (OrionError.isInstance(error)) return error.code;
    throw error;
  }
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

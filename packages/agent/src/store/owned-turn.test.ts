import { OrionError } from '@orion/contracts';
import type {
  AppendOutcome,
  ConversationSave,
  FinishOutcome,
  JsonValue,
  RunEvent,
  RunEventBody,
  SaveOutcome,
  TurnAppend,
} from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { AppendGroup } from './append-group.ts';
import type { KeptConversation } from './conversation-keeper.ts';
import { OwnedTurn } from './owned-turn.ts';

/** Hazard: an owner drops an event, reads on without a store, or begins what it may not begin any more. */

const SAVE: ConversationSave = {
  conversationId: 'c',
  projectId: 'p',
  history: [],
  from: 0,
  openSessionId: null,
  revision: 4,
};
const KEPT = {} as KeptConversation;

/** An owned turn of which three events are stored, over a log that does what `answer` says. */
function opened(
  answer: (
    append: TurnAppend,
    call: number,
  ) => Promise<AppendOutcome | undefined> | undefined = () => undefined,
) {
  const clock = createFakeClock();
  const appends: TurnAppend[] = [];
  const finishes: (() => Promise<FinishOutcome>)[] = [];
  const finished: TurnAppend[] = [];
  const saved: SaveOutcome[] = [];
  const kept: KeptConversation[] = [];
  const group = new AppendGroup(
    {
      async appendAll([append]): Promise<readonly AppendOutcome[]> {
        if (append === undefined) throw new Error('an empty group');
        appends.push(append);
        const lastSeq = append.expectSeq + append.events.length - 1;
        return [
          (await answer(append, appends.length)) ?? {
            kind: 'stored',
            lastSeq,
            cancelRequested: false,
          },
        ];
      },
    },
    clock,
  );
  const turn = new OwnedTurn({
    clock,
    group,
    claim: { turnId: 't', epoch: 9, lastSeq: 3, checkpoint: null, idleAttempts: 1 },
    log: {
      read: () => Promise.resolve([]),
      finish(append) {
        finished.push(append);
        const next = finishes.shift();
        return (
          next?.() ?? Promise.resolve({ kind: 'stored', lastSeq: append.expectSeq, revision: 5 })
        );
      },
    },
    conversations: {
      store(conversation) {
        kept.push(conversation);
        return Promise.resolve({ id: 'c', at: 0 });
      },
      async conclude(_conversation, write) {
        for (;;) {
          const outcome = await write(SAVE);
          saved.push(outcome);
          if (outcome.kind !== 'stale') return;
        }
      },
    },
  });
  let seq = 3;
  const event = (body: RunEventBody): RunEvent => {
    seq += 1;
    return { seq, requestId: 't', phase: 'action', ...body } as RunEvent;
  };
  const chunk = (content = 'text', checkpoint?: JsonValue): void => {
    turn.note(event({ type: 'chunk', content, source: 'model' }), checkpoint);
  };
  const done = (): RunEvent =>
    event({ type: 'done', fullContent: '', status: 'complete', protocolReason: 'x' });
  const numbers = (): number[][] => appends.map(({ events }) => events.map((each) => each.seq));
  return { clock, turn, appends, numbers, chunk, done, finishes, finished, saved, kept };
}

/** Whether a promise has settled, without time passing on it. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  const pending = new Promise<string>((resolve) => {
    setImmediate(() => resolve('waits'));
  });
  return Promise.race([
    promise.then(
      () => 'resolved',
      (error: unknown) => (OrionError.isInstance(error) ? error.code : String(error)),
    ),
    pending,
  ]);
}

it('stores events in order under its own number, behind those that were there', async () => {
  const { clock, turn, appends, numbers, chunk } = opened();
  chunk();
  chunk();
  expect(appends).toEqual([]);
  await clock.advance(0);
  for (let count = 0; count < 501; count += 1) chunk();
  await clock.advance(33);
  await clock.advance(33);
  expect(numbers().map((each) => [each[0], each.length])).toEqual([
    [4, 2],
    [6, 500],
    [506, 1],
  ]);
  expect(appends[1]).toMatchObject({ turnId: 't', epoch: 9, expectSeq: 6 });
  expect(turn.fence).toEqual({ turnId: 't', epoch: 9 });
  expect(turn.lastSeq).toBe(3);
  expect(clock.pending()).toBe(0);
});

it('holds chat until the next flush, and content of a file by itself', async () => {
  const { clock, turn, chunk } = opened();
  const due: string[] = [];
  const hold = (kind: 'chunk' | 'write_chunk'): (() => void) | null =>
    turn.pace.hold(kind, clock.monotonic(), () => due.push(kind));
  expect(hold('chunk')).toBeNull();
  chunk();
  await clock.advance(0);
  expect(hold('chunk')).not.toBeNull();
  expect(hold('write_chunk')).not.toBeNull();
  expect(turn.pace.ask?.(() => due.push('ask'))).not.toBeNull();
  await clock.advance(33);
  expect(due).toEqual(['chunk', 'ask']);
  turn.pace.hold('chunk', clock.monotonic(), () => {
    // Within a flush text is passed on, and the next of it waits for the next flush.
    expect(hold('chunk')).toBeNull();
    expect(turn.pace.ask?.(() => due.push('ask again'))).not.toBeNull();
  });
  await clock.advance(67);
  expect(due).toEqual(['chunk', 'ask', 'ask again', 'write_chunk']);
});

it('stores a checkpoint with its event and never before it, and the newest of several', async () => {
  const { clock, turn, appends, chunk } = opened();
  chunk('a', 'first');
  chunk('b', 'second');
  for (let count = 0; count < 498; count += 1) chunk();
  chunk('c', 'third');
  await clock.advance(50);
  await clock.advance(50);
  expect(appends.map(({ events, checkpoint }) => [events.length, checkpoint])).toEqual([
    [500, 'second'],
    [1, 'third'],
  ]);
  turn.keepCheckpoint('alone');
  await turn.confirm();
  await turn.confirm();
  expect(appends.slice(2).map(({ events, checkpoint }) => [events.length, checkpoint])).toEqual([
    [0, 'alone'],
    [0, undefined],
  ]);
});

it('lets go of a turn with what there is, and of one that is over without another word', async () => {
  const left = opened();
  left.chunk();
  await left.turn.leave();
  expect(left.numbers()).toEqual([[4]]);
  expect(left.turn.lost.aborted).toBe(true);
  left.chunk();
  await expect(left.turn.confirm()).rejects.toThrow('handed off');
  expect(left.appends).toHaveLength(1);
  const over = opened();
  await over.turn.conclude(over.done(), KEPT);
  const before = over.appends.length;
  await over.turn.leave();
  expect(over.appends).toHaveLength(before);
});

it('confirms with an answer to a statement that was sent after it was asked, even if there is nothing to store', async () => {
  const first = Promise.withResolvers<undefined>();
  const { clock, turn, numbers, chunk } = opened((_, call) =>
    call === 1 ? first.promise : undefined,
  );
  chunk();
  await clock.advance(50);
  const confirmed = turn.confirm();
  chunk();
  expect(await stateOf(confirmed)).toBe('waits');
  first.resolve(undefined);
  await clock.advance(0);
  expect(await stateOf(confirmed)).toBe('resolved');
  expect(numbers()).toEqual([[4], [5]]);
  await turn.confirm();
  expect(numbers()).toEqual([[4], [5], []]);
});

it('is not confirmed before everything noted so far is stored', async () => {
  const { turn, numbers, chunk } = opened();
  for (let count = 0; count < 1_200; count += 1) chunk();
  await turn.settled();
  expect(numbers().map(({ length }) => length)).toEqual([500, 500, 200]);
});

it.each([
  [8_000, 1],
  [8_001, 2],
])(
  'an owner that waited %i ms for its confirmation has asked %i times before it begins anything (O4)',
  async (milliseconds, asked) => {
    const { clock, turn, appends } = opened(async (_, call) => {
      if (call === 1) await new Promise<void>((resolve) => clock.schedule(milliseconds, resolve));
      return undefined;
    });
    const confirmed = turn.confirm();
    await clock.advance(milliseconds - 1);
    expect(await stateOf(confirmed)).toBe('waits');
    await clock.advance(1);
    expect(await stateOf(confirmed)).toBe('resolved');
    expect(appends).toHaveLength(asked);
  },
);

it('after an error of the database an owner reads its row again before it begins anything (O6)', async () => {
  let isTaken = false;
  const { clock, turn } = opened((_, call) => {
    if (call === 1) {
      isTaken = true;
      return Promise.reject(
        new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true }),
      );
    }
    return Promise.resolve<AppendOutcome | undefined>(isTaken ? { kind: 'fenced' } : undefined);
  });
  const confirmed = turn.confirm();
  const state = stateOf(confirmed);
  expect(await state).toBe('waits');
  await clock.advance(50);
  expect(await stateOf(confirmed)).toBe('FENCED');
});

it.each([
  [{ kind: 'fenced' }, 'FENCED', 'The turn t does not belong to the owner 9 any more'],
  [{ kind: 'finished' }, 'TURN_FINISHED', 'The turn t is over'],
  [{ kind: 'gap', lastSeq: 1 }, 'TURN_LOG_GAP', 'The log of the turn t went back to 1'],
  [{ kind: 'refused', message: 'no room' }, 'STORE_UNAVAILABLE', 'no room'],
] as const)(
  '%j loses the turn: nothing is stored or begun any more (O5)',
  async (outcome, code, message) => {
    const { clock, turn, appends, chunk, done, finished } = opened(() => Promise.resolve(outcome));
    chunk();
    const confirmed = turn.confirm();
    const settled = turn.settled();
    expect(await stateOf(confirmed)).toBe(code);
    expect(await stateOf(settled)).toBe(code);
    expect(turn.lost.aborted).toBe(true);
    expect(turn.lost.reason).toMatchObject({ code, message });
    chunk();
    await clock.advance(10_000);
    expect(turn.room()).toBeNull();
    for (const late of [turn.confirm(), turn.conclude(done(), KEPT), turn.conclude(done(), null)]) {
      expect(await stateOf(late)).toBe(code);
    }
    expect([appends.length, finished.length]).toEqual([1, 0]);
    expect(clock.pending()).toBe(0);
  },
);

it('a store that cannot be used any more loses the turn', async () => {
  const closed = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'closed', retryable: false });
  const { turn } = opened(() => Promise.reject(closed));
  await expect(turn.confirm()).rejects.toBe(closed);
  expect(turn.lost.reason).toBe(closed);
});

it('reads no more than 256 KiB ahead of the store, and drops nothing', async () => {
  const first = Promise.withResolvers<undefined>();
  const { clock, turn, numbers, chunk } = opened((_, call) =>
    call === 1 ? first.promise : undefined,
  );
  chunk('x'.repeat(256 * 1024 - 256));
  expect(turn.room()).toBeNull();
  chunk('');
  const room = turn.room();
  await clock.advance(0);
  expect(await stateOf(room ?? Promise.resolve())).toBe('waits');
  first.resolve(undefined);
  await clock.advance(0);
  await room;
  expect(turn.room()).toBeNull();
  expect(numbers().flat()).toEqual([4, 5]);
});

it('reads no further than 2 s ahead of the store', async () => {
  const first = Promise.withResolvers<undefined>();
  const { clock, turn, chunk } = opened((_, call) => (call === 1 ? first.promise : undefined));
  chunk();
  await clock.advance(2_000);
  expect(turn.room()).toBeNull();
  await clock.advance(1);
  const room = turn.room();
  expect(room).not.toBeNull();
  first.resolve(undefined);
  await room;
  expect(turn.room()).toBeNull();
});

it('hears with an answer that somebody asked for its end', async () => {
  const { turn } = opened((_, call) =>
    Promise.resolve({ kind: 'stored', lastSeq: 3, cancelRequested: call === 2 }),
  );
  await turn.confirm();
  expect(turn.cancelled.aborted).toBe(false);
  await turn.confirm();
  expect(turn.cancelled.aborted).toBe(true);
  expect(turn.lost.aborted).toBe(false);
});

it('says with its conversation which event it knows to be stored', async () => {
  const { turn, chunk, kept } = opened();
  chunk();
  await turn.save(KEPT);
  await turn.settled();
  await turn.save(KEPT);
  expect(kept.map(({ fence }) => fence)).toEqual([
    { turnId: 't', epoch: 9, lastSeq: 3 },
    { turnId: 't', epoch: 9, lastSeq: 4 },
  ]);
});

it('ends with its conversation in one call, behind everything else, as often as needed', async () => {
  const { clock, turn, numbers, chunk, done, finishes, finished, saved } = opened();
  const away = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true });
  finishes.push(
    () => Promise.resolve({ kind: 'stale' }),
    () => Promise.reject(away),
    () => Promise.resolve({ kind: 'stored', lastSeq: 5, revision: null }),
  );
  chunk();
  const concluded = turn.conclude(done(), KEPT);
  await clock.advance(499);
  expect(await stateOf(concluded)).toBe('waits');
  await clock.advance(1);
  await concluded;
  expect(numbers()).toEqual([[4]]);
  expect(
    finished.map(({ epoch, expectSeq, events }) => [epoch, expectSeq, events[0]?.kind]),
  ).toEqual([
    [9, 5, 'done'],
    [9, 5, 'done'],
    [9, 5, 'done'],
  ]);
  // Found stored by a repeat: the revision is the one that it would have been given.
  expect(saved).toEqual([{ kind: 'stale' }, { kind: 'saved', revision: 5 }]);
  expect(turn.lost.aborted).toBe(false);
});

it('asks for its owner once more before its end only if something is under way', async () => {
  const { turn, appends, chunk, done, finished } = opened();
  chunk();
  await turn.settled();
  expect(appends).toHaveLength(1);
  await turn.conclude(done(), KEPT);
  expect(appends).toHaveLength(1);
  expect(finished).toHaveLength(1);
});

it('ends without a conversation where nothing was said', async () => {
  const { turn, numbers, chunk, done, finished } = opened();
  chunk();
  await turn.conclude(done(), null);
  expect(numbers()).toEqual([[4]]);
  expect(finished).toMatchObject([{ epoch: 9, expectSeq: 5, events: [{ kind: 'done' }] }]);
});

it('an end that is refused loses the turn, and one that fails for good is reported', async () => {
  const { turn, done, finishes, saved } = opened();
  finishes.push(() => Promise.resolve({ kind: 'fenced' }));
  await expect(turn.conclude(done(), KEPT)).rejects.toMatchObject({ code: 'FENCED' });
  expect(saved).toEqual([{ kind: 'fenced' }]);

  const other = opened();
  const closed = new OrionError({ code: 'STORE_UNAVAILABLE', message: 'closed', retryable: false });
  other.finishes.push(() => Promise.reject(closed));
  await expect(other.turn.conclude(other.done(), KEPT)).rejects.toBe(closed);
});

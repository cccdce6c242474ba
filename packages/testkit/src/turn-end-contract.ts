import type {
  Clock,
  CompleteAttempt,
  ConversationSave,
  ConversationStore,
  TransactionOutcome,
  TurnLog,
} from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';
import { done, events } from './turn-log-events.ts';

type Opened = { readonly turnLog: TurnLog; readonly conversations: ConversationStore };

/**
 * What a turn log and a store of conversations keep together.
 *
 * 1. An owner whose turn was acquired by another, or is over, changes no conversation.
 * 2. The last events of a turn and its conversation are stored, and the attempt of a queue is completed, together or
 *    not at all.
 */
export function describeTurnEndContract(
  name: string,
  factory: (options: { readonly clock: Clock }) => Promise<Opened & { close(): Promise<void> }>,
): void {
  describe(`turn end contract: ${name}`, () => {
    let turns = 0;
    const withStore = async (use: (store: Opened, id: string) => Promise<void>): Promise<void> => {
      // Earlier than in other suites: stores may share a database, and those ask for the newest conversation.
      const opened = await factory({ clock: createFakeClock(1) });
      try {
        turns += 1;
        await use(opened, `end-${turns}`);
      } finally {
        await opened.close();
      }
    };
    const said = (
      conversationId: string,
      revision: number,
      ...texts: readonly string[]
    ): ConversationSave => ({
      conversationId,
      projectId: 'p',
      history: texts.map((content) => ({ role: 'user', content })),
      from: 0,
      openSessionId: null,
      revision,
    });
    const textsOf = async ({ conversations }: Opened, id: string): Promise<unknown> =>
      (await conversations.load(id))?.history.map(({ content }) => content) ?? null;

    const seqsOf = async (turnLog: TurnLog, id: string): Promise<number[]> => {
      const seqs: number[] = [];
      for await (const { seq } of turnLog.tail(id, 0, new AbortController().signal)) {
        seqs.push(seq);
      }
      return seqs;
    };

    test('a stale owner does not overwrite the newer conversation (O5)', () =>
      withStore(async (store, id) => {
        const { turnLog, conversations } = store;
        const first = await turnLog.acquire(id, 1);
        const kept = { ...said(id, 0, 'one'), fence: first };
        expect(await conversations.save(kept)).toEqual({ kind: 'saved', revision: 1 });
        const second = await turnLog.acquire(id, 2);
        const stale = { ...said(id, 1, 'one', 'of the stale'), fence: first };
        expect(await conversations.save(stale)).toEqual({ kind: 'fenced' });
        const newer = { ...said(id, 1, 'one', 'of the new'), fence: second };
        expect(await conversations.save(newer)).toEqual({ kind: 'saved', revision: 2 });
        expect(await conversations.save({ ...stale, revision: 2 })).toEqual({ kind: 'fenced' });
        expect(await textsOf(store, id)).toEqual(['one', 'of the new']);
        // The owner is told of a state that it does not know like anybody else.
        expect(await conversations.save({ ...newer, revision: 1 })).toEqual({ kind: 'stale' });
      }));

    test('an owner that knows of more than the log has changes no conversation: the log went back', () =>
      withStore(async (store, id) => {
        const { turnLog, conversations } = store;
        const { epoch, turnId } = await turnLog.acquire(id, 1);
        await turnLog.append(id, epoch, 1, [{ seq: 1, kind: 'chunk', data: {} }]);
        const save = (lastSeq: number): ConversationSave => ({
          ...said(id, 0, 'one'),
          fence: { turnId, epoch, lastSeq },
        });
        expect(await conversations.save(save(2))).toEqual({ kind: 'fenced' });
        expect(await textsOf(store, id)).toBeNull();
        expect(await conversations.save(save(1))).toEqual({ kind: 'saved', revision: 1 });
      }));

    test('a turn that is over, or unknown, changes no conversation (O3)', () =>
      withStore(async (store, id) => {
        const { turnLog, conversations } = store;
        const fence = await turnLog.acquire(id, 1);
        await turnLog.append(id, fence.epoch, 1, [done(1)]);
        for (const late of [fence, { turnId: `${id}-unknown`, epoch: 1 }]) {
          const save = { ...said(id, 0, 'late'), fence: late };
          expect(await conversations.save(save)).toEqual({ kind: 'fenced' });
        }
        expect(await textsOf(store, id)).toBeNull();
      }));

    test('a turn ends with its conversation, and a repeat of that changes nothing', () =>
      withStore(async (store, id) => {
        const { turnLog } = store;
        const { epoch } = await turnLog.acquire(id, 1);
        // No time passes: waiting readers are woken.
        const reading = seqsOf(turnLog, id);
        const append = { turnId: id, epoch, expectSeq: 1, events: [...events(1, 2), done(3)] };
        const save = said(id, 0, 'one');
        expect(await turnLog.finish(append, save)).toEqual({
          kind: 'stored',
          lastSeq: 3,
          revision: 1,
        });
        expect(await turnLog.finish(append, save)).toEqual({
          kind: 'stored',
          lastSeq: 3,
          revision: null,
        });
        expect(await textsOf(store, id)).toEqual(['one']);
        expect(await reading).toEqual([1, 2, 3]);
        expect(await seqsOf(turnLog, id)).toEqual([1, 2, 3]);
      }));

    test('neither is stored without the other', () =>
      withStore(async (store, id) => {
        const { turnLog, conversations } = store;
        await conversations.save(said(id, 0, 'before'));
        const { epoch } = await turnLog.acquire(id, 1);
        const finish = (expectSeq: number, from: number, revision: number, owner = epoch) =>
          turnLog.finish(
            { turnId: id, epoch: owner, expectSeq, events: [...events(from, 1), done(from + 1)] },
            said(id, revision, 'after'),
          );
        expect(await finish(1, 1, 7)).toEqual({ kind: 'stale' });
        expect(await finish(2, 2, 1)).toEqual({ kind: 'gap', lastSeq: 0 });
        expect(await finish(1, 2, 1)).toEqual({ kind: 'gap', lastSeq: 0 });
        const next = await turnLog.acquire(id, 2);
        expect(await finish(1, 1, 1)).toEqual({ kind: 'fenced' });
        expect(await turnLog.read(id, 0)).toEqual([]);
        expect(await textsOf(store, id)).toEqual(['before']);

        expect(await finish(1, 1, 1, next.epoch)).toMatchObject({ kind: 'stored', revision: 2 });
        expect(await finish(3, 3, 2, next.epoch)).toEqual({ kind: 'finished' });
        expect(await turnLog.read(id, 0)).toHaveLength(2);
        expect(await textsOf(store, id)).toEqual(['after']);
      }));

    test('the attempt of a queue is completed with the end of its turn, or neither is', () =>
      withStore(async (store, id) => {
        const { turnLog } = store;
        const { epoch } = await turnLog.acquire(id, 1);
        const append = { turnId: id, epoch, expectSeq: 1, events: [...events(1, 1), done(2)] };
        const ends: TransactionOutcome[] = [];
        const seen: unknown[] = [];
        /** Does something in the transaction, which is seen by the next one if it is stored. */
        const complete =
          (answer: () => boolean): CompleteAttempt =>
          async (transaction) => {
            transaction.onEnd((outcome) => ends.push(outcome));
            const [row] = await transaction.all(
              'select protocol, last_seq from turn where turn_id = $1',
              [id],
            );
            seen.push(row);
            await transaction.all('update turn set protocol = $2 where turn_id = $1', [id, 'x']);
            return answer();
          };
        const fail = (): never => {
          throw new Error('of the queue');
        };
        expect(await turnLog.finish(append, said(id, 7, 'one'), complete(fail))).toEqual({
          kind: 'stale',
        });
        const save = said(id, 0, 'one');
        const refuse = complete(() => false);
        expect(await turnLog.finish(append, save, refuse)).toEqual({ kind: 'fenced' });
        await expect(turnLog.finish(append, save, complete(fail))).rejects.toThrow('of the queue');
        expect(await turnLog.read(id, 0)).toEqual([]);
        expect(await textsOf(store, id)).toBeNull();
        const stored = { kind: 'stored', lastSeq: 2, revision: 1 };
        expect(
          await turnLog.finish(
            append,
            save,
            complete(() => true),
          ),
        ).toEqual(stored);
        expect(seen).toEqual(Array(3).fill({ protocol: null, last_seq: 2 }));
        expect(ends).toEqual(['undone', 'undone', 'committed']);
        // A repeat finds all of it done.
        const again = await turnLog.finish(append, save, complete(fail));
        expect(again).toEqual({ ...stored, revision: null });
        expect(ends).toHaveLength(3);
      }));

    test('a turn ends without a conversation, too', () =>
      withStore(async (store, id) => {
        const { turnLog } = store;
        const { epoch } = await turnLog.acquire(id, 1);
        const append = { turnId: id, epoch, expectSeq: 1, events: [done(1)] };
        const stored = { kind: 'stored', lastSeq: 1, revision: null };
        expect(await turnLog.finish(append, null, () => Promise.resolve(false))).toEqual({
          kind: 'fenced',
        });
        expect(await turnLog.finish(append, null)).toEqual(stored);
        expect(await turnLog.finish(append, null)).toEqual(stored);
        expect(await seqsOf(turnLog, id)).toEqual([1]);
      }));

    test('of an owner and the one that takes its turn at once, one writes the conversation', () =>
      withStore(async (store, id) => {
        const { turnLog, conversations } = store;
        for (let round = 0; round < 10; round += 1) {
          const turnId = `${id}-${round}`;
          const old = await turnLog.acquire(turnId, 1);
          const [outcome, taken] = await Promise.all([
            conversations.save({ ...said(turnId, 0, 'old'), fence: old }),
            turnLog.acquire(turnId, 2),
          ]);
          const revision = outcome.kind === 'saved' ? outcome.revision : 0;
          expect(
            await conversations.save({ ...said(turnId, revision, 'new'), fence: taken }),
          ).toMatchObject({ kind: 'saved' });
          expect(await textsOf(store, turnId)).toEqual(['new']);
        }
      }));
  });
}

import type { Clock, ConversationSave, ConversationStore, TurnLog } from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';
import { done, events } from './turn-log-events.ts';

type Opened = { readonly turnLog: TurnLog; readonly conversations: ConversationStore };

/**
 * What a turn log and a store of conversations keep together.
 *
 * 1. An owner whose turn was acquired by another, or is over, changes no conversation.
 * 2. The last events of a turn and its conversation are stored together or not at all.
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

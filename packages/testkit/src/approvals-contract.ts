import type { Approval, Approvals, Clock, NewApproval, TurnFence, TurnLog } from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';
import { done } from './turn-log-events.ts';

type Opened = { readonly turnLog: TurnLog; readonly approvals: Approvals };

const DAY_MS = 86_400_000;
/** Ids come from models and their providers. */
const LONG_ID = Array.from({ length: 20_000 }, (_, at) =>
  ((at * at * 7919) % 104_729).toString(36),
).join('');

/** What every store keeps of the questions that turns ask people. */
export function describeApprovalsContract(
  name: string,
  factory: (options: { readonly clock: Clock }) => Promise<Opened & { close(): Promise<void> }>,
): void {
  describe(`approvals contract: ${name}`, () => {
    let turns = 0;
    const withTurn = async (
      use: (store: Opened, owner: TurnFence, ask: Ask) => Promise<void>,
    ): Promise<void> => {
      const opened = await factory({ clock: createFakeClock() });
      try {
        turns += 1;
        const owner = await opened.turnLog.acquire(`approvals-${turns}`, 1);
        let asked = 0;
        const ask: Ask = (change = {}) => {
          asked += 1;
          return opened.approvals.request(owner, {
            approvalId: `${owner.turnId}-${asked}`,
            turnId: owner.turnId,
            projectId: `project of ${owner.turnId}`,
            conversationId: 'c',
            callId: 'call',
            sessionId: null,
            action: { kind: 'command', command: 'make "it"\n\u0000', folder: '/w' },
            diffs: [],
            hash: 'h',
            waitMs: DAY_MS,
            ...change,
          });
        };
        await use(opened, owner, ask);
      } finally {
        await opened.close();
      }
    };
    const yes = { outcome: 'yes', reason: null } as const;
    const states = (found: readonly Approval[]): readonly string[] =>
      found.map(({ state }) => state);

    test('a turn that comes to wait has made progress, and one that finds its answer has not', () =>
      withTurn(async ({ approvals, turnLog }, owner, ask) => {
        const again = async (attempt: number) => {
          const { idleAttempts, ...claim } = await turnLog.acquire(owner.turnId, attempt);
          const asked = { approvalId: 'unused', turnId: owner.turnId, projectId: 'p' };
          const call = { conversationId: 'c', callId: 'call', sessionId: null, hash: 'h' };
          const action = { kind: 'command', command: 'ls', folder: '/w' } as const;
          const request = { ...asked, ...call, action, diffs: [], waitMs: DAY_MS };
          const { approvalId } = await approvals.request(claim, request);
          return { idleAttempts, approvalId };
        };
        const { approvalId } = await ask();
        expect(await again(2)).toEqual({ idleAttempts: 1, approvalId });
        expect(await again(3)).toEqual({ idleAttempts: 1, approvalId });
        await approvals.decide(approvalId, 'h', yes);
        expect(await again(4)).toEqual({ idleAttempts: 1, approvalId });
        expect(await again(5)).toEqual({ idleAttempts: 2, approvalId });
      }));

    test('a question is stored whole, and decided once', () =>
      withTurn(async ({ approvals }, { turnId }, ask) => {
        const asked = await ask();
        expect(asked).toEqual({
          approvalId: `${turnId}-1`,
          turnId,
          projectId: `project of ${turnId}`,
          conversationId: 'c',
          callId: 'call',
          sessionId: null,
          action: { kind: 'command', command: 'make "it"\n\u0000', folder: '/w' },
          hash: 'h',
          state: 'pending',
          reason: null,
          createdAt: expect.any(Number),
          expiresAt: asked.createdAt + DAY_MS,
          decidedAt: null,
        });
        expect(await approvals.find(asked.approvalId)).toEqual(asked);
        expect(await approvals.news([asked.approvalId])).toEqual({ closed: [], unknown: [] });
        const no = { outcome: 'no', reason: 'not now' } as const;
        const decided = await approvals.decide(asked.approvalId, 'h', no);
        const stands = { ...asked, state: 'no', reason: 'not now', decidedAt: expect.any(Number) };
        expect(decided).toEqual({ kind: 'decided', approval: stands });
        expect(await approvals.decide(asked.approvalId, 'h', yes)).toEqual({
          kind: 'closed',
          approval: stands,
        });
        expect(await approvals.news([asked.approvalId, 'unknown'])).toEqual({
          closed: [stands],
          unknown: ['unknown'],
        });
      }));

    test('another hash decides nothing, and neither does an unknown id', () =>
      withTurn(async ({ approvals }, _, ask) => {
        const asked = await ask();
        const stale = await approvals.decide(asked.approvalId, 'H', yes);
        expect(stale).toEqual({ kind: 'stale', approval: asked });
        expect(await approvals.find(asked.approvalId)).toEqual(asked);
        expect(await approvals.decide('unknown', 'h', yes)).toEqual({ kind: 'unknown' });
        expect(await approvals.find('unknown')).toBeNull();
      }));

    test('of many who decide at once one is first, and all learn the same', () =>
      withTurn(async ({ approvals }, _, ask) => {
        const { approvalId } = await ask();
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, (__, index) =>
            approvals.decide(approvalId, 'h', {
              outcome: index % 2 === 0 ? 'yes' : 'no',
              reason: String(index),
            }),
          ),
        );
        expect(outcomes.filter(({ kind }) => kind === 'decided')).toHaveLength(1);
        expect(outcomes.filter(({ kind }) => kind === 'closed')).toHaveLength(7);
        const stands = await approvals.find(approvalId);
        for (const outcome of outcomes) expect(outcome).toMatchObject({ approval: stands });
      }));

    test('the same question of a turn is one, whoever owns the turn, decided or not', () =>
      withTurn(async ({ approvals, turnLog }, owner, ask) => {
        const asked = await ask();
        expect(await ask()).toEqual(asked);
        const next = await turnLog.acquire(owner.turnId, 2);
        const again = (change: Partial<NewApproval> = {}): Promise<Approval> =>
          approvals.request(next, { ...asked, diffs: [], waitMs: 1, ...change });
        expect(await again({ approvalId: 'another' })).toEqual(asked);
        await approvals.decide(asked.approvalId, 'h', yes);
        expect(await again()).toMatchObject({ approvalId: asked.approvalId, state: 'yes' });
        expect(await approvals.find('another')).toBeNull();
        await expect(ask({ hash: 'late' })).rejects.toMatchObject({ code: 'FENCED' });
      }));

    test('another call or session is asked about by itself', () =>
      withTurn(async ({ approvals }, { turnId }, ask) => {
        const first = await ask();
        await approvals.decide(first.approvalId, 'h', yes);
        expect(await ask({ callId: 'later' })).toMatchObject({ state: 'pending' });
        const session = { callId: null, sessionId: 's' };
        const written = await ask(session);
        expect(written).toMatchObject({ state: 'pending', ...session });
        expect(await ask(session)).toEqual(written);
        expect(await approvals.list({ turnId, limit: 9 })).toHaveLength(3);
      }));

    test.each([
      ['U+0000', 'a\u0000b', 'a\ufffdb'],
      ['half a character', 'a\ud800b', 'a\ufffdb'],
      ['another half', 'a\ud801b', 'a\ufffdb'],
      ['much that does not compress', LONG_ID, LONG_ID],
    ])('a call whose id has %s is asked about once', (_, callId, readable) =>
      withTurn(async ({ approvals }, __, ask) => {
        const beside = await ask({ callId: 'a\ufffdb' });
        const asked = await ask({ callId });
        expect(asked).toMatchObject({ callId: readable, state: 'pending' });
        expect(asked.approvalId).not.toBe(beside.approvalId);
        expect(await ask({ callId })).toEqual(asked);
        expect(await approvals.find(asked.approvalId)).toEqual(asked);
      }),
    );

    test('a reason of any text decides', () =>
      withTurn(async ({ approvals }, _, ask) => {
        const { approvalId } = await ask();
        const no = { outcome: 'no', reason: 'no\u0000 \ud800!' } as const;
        const outcome = await approvals.decide(approvalId, 'h', no);
        const approval = { state: 'no', reason: 'no\ufffd \ufffd!' };
        expect(outcome).toMatchObject({ kind: 'decided', approval });
        expect(await approvals.find(approvalId)).toMatchObject(approval);
      }));

    test('what would happen instead replaces the question, and the first may come back', () =>
      withTurn(async ({ approvals }, { turnId }, ask) => {
        const beside = await ask({ callId: 'beside' });
        const first = await ask();
        const second = await ask({ hash: 'other' });
        expect(await approvals.find(beside.approvalId)).toEqual(beside);
        expect(await approvals.find(first.approvalId)).toMatchObject({
          state: 'withdrawn',
          reason: expect.any(String),
          decidedAt: expect.any(Number),
        });
        expect(await approvals.decide(first.approvalId, 'h', yes)).toMatchObject({
          kind: 'closed',
        });
        await approvals.decide(second.approvalId, 'other', { outcome: 'withdrawn', reason: 'r' });
        const third = await ask();
        expect(third).toMatchObject({ approvalId: `${turnId}-4`, state: 'pending', hash: 'h' });
        const all = await approvals.list({ turnId, limit: 9 });
        expect(states(all)).toEqual(['pending', 'withdrawn', 'withdrawn', 'pending']);
      }));

    test('what is shown of a write is kept while the question waits, as it was last asked', () =>
      withTurn(async ({ approvals }, { turnId }, ask) => {
        const shown = (diff: string | null): NewApproval['diffs'] => [
          { target_file: 'a.txt', diff, cut: diff === null },
        ];
        const { approvalId } = await ask({ diffs: shown(null) });
        expect(await approvals.findDiffs(approvalId)).toEqual(shown(null));
        await ask({ diffs: shown('+"\u0000\ud800\n') });
        expect(await approvals.findDiffs(approvalId)).toEqual(shown('+"\u0000\ud800\n'));
        await approvals.decide(approvalId, 'h', yes);
        expect(await approvals.findDiffs(approvalId)).toEqual([]);
        expect(await ask({ diffs: shown('late') })).toMatchObject({ approvalId, state: 'yes' });
        expect(await approvals.findDiffs(approvalId)).toEqual([]);
        await ask({ hash: 'next', diffs: shown('next') });
        await ask({ hash: 'last', diffs: shown('last') });
        expect(await approvals.findDiffs(`${turnId}-4`)).toEqual([]);
        expect(await approvals.findDiffs(`${turnId}-5`)).toEqual(shown('last'));
        const expired = await ask({ callId: 'another', diffs: shown('late'), waitMs: 0 });
        expect(await approvals.findDiffs(expired.approvalId)).toEqual([]);
        expect(await approvals.findDiffs('unknown')).toEqual([]);
      }));

    test('what nobody decided in time has expired', () =>
      withTurn(async ({ approvals }, { turnId }, ask) => {
        const { approvalId } = await ask({ waitMs: 0 });
        expect(await approvals.decide(approvalId, 'h', yes)).toMatchObject({
          kind: 'closed',
          approval: { state: 'expired', reason: 'Nobody decided in time.' },
        });
        expect(await ask()).toMatchObject({ approvalId, state: 'expired' });
        const state = 'expired';
        const late = (callId: string): Promise<Approval> => ask({ callId, waitMs: 0 });
        // Whoever looks first sees it.
        expect(await approvals.find((await late('a')).approvalId)).toMatchObject({ state });
        const { closed } = await approvals.news([(await late('b')).approvalId]);
        expect(closed).toMatchObject([{ state }]);
        await late('c');
        expect(await approvals.list({ turnId, state, limit: 9 })).toHaveLength(4);
        await late('d');
        expect(await ask({ callId: 'd' })).toMatchObject({ state });
        expect(await approvals.list({ turnId, state: 'pending', limit: 9 })).toEqual([]);
      }));

    test('a turn that is over has no question, and asks none', () =>
      withTurn(async ({ approvals, turnLog }, { turnId, epoch }, ask) => {
        const before = await approvals.countPending();
        const { approvalId } = await ask();
        expect(await approvals.countPending()).toBe(before + 1);
        await turnLog.append(turnId, epoch, 1, [done(1)]);
        expect(await approvals.countPending()).toBe(before);
        expect((await approvals.news([approvalId])).closed).toMatchObject([
          { state: 'withdrawn', reason: 'The turn is over.' },
        ]);
        await expect(ask()).rejects.toMatchObject({ code: 'FENCED' });
      }));

    test('lists them newest first, by what is asked for, in pages', () =>
      withTurn(async ({ approvals }, { turnId }, ask) => {
        for (const callId of ['a', 'b', 'c']) await ask({ callId });
        await approvals.decide(`${turnId}-2`, 'h', yes);
        const ids = async (filter: object): Promise<readonly string[]> =>
          (await approvals.list({ limit: 9, turnId, ...filter })).map(
            ({ approvalId }) => approvalId,
          );
        expect(await ids({})).toEqual([3, 2, 1].map((at) => `${turnId}-${at}`));
        expect(await ids({ limit: 2 })).toEqual([3, 2].map((at) => `${turnId}-${at}`));
        expect(await ids({ before: `${turnId}-2` })).toEqual([`${turnId}-1`]);
        expect(await ids({ before: 'unknown' })).toEqual([]);
        await ask({ callId: null, sessionId: 's' });
        expect(await ids({ sessionId: 's' })).toEqual([`${turnId}-4`]);
        await approvals.decide(`${turnId}-4`, 'h', yes);
        expect(await ids({ state: 'yes', limit: 1 })).toEqual([`${turnId}-4`]);
        expect(await ids({ state: 'yes', before: `${turnId}-3` })).toEqual([`${turnId}-2`]);
        expect(await ids({ projectId: `project of ${turnId}`, state: 'pending' })).toHaveLength(2);
        expect(await ids({ projectId: 'another' })).toEqual([]);
      }));
  });
}

type Ask = (change?: Partial<NewApproval>) => Promise<Approval>;

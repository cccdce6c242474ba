import { randomUUID } from 'node:crypto';

import type { NewTurn, TurnAllowance } from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import type { OpenedTurns, TestTurns } from './test-turns.ts';

const FREE: TurnAllowance = { queued: 1_000_000, tokensPerDay: null };
const DAY_MS = 86_400_000;

/** What a project may have is decided by its rows, whichever process stored them. */
export function describeAllowances({ withTurns, newTurn, submit, finish }: TestTurns): void {
  describe('allowances', () => {
    const limited = (projectId: string, allowance: Partial<TurnAllowance>): NewTurn =>
      newTurn(projectId, {
        conversationId: randomUUID(),
        allowance: { ...FREE, ...allowance },
      });

    test('as many turns of a project wait as may, however many come at once', () =>
      withTurns(async (store, projectId) => {
        const send = async (turn = limited(projectId, { queued: 3 })) =>
          (await submit(store, turn)).kind;
        const kinds = await Promise.all(Array.from({ length: 8 }, () => send()));
        expect(kinds.toSorted()).toEqual([...Array(5).fill('full'), ...Array(3).fill('stored')]);
        expect(await send(limited(`${projectId}-other`, { queued: 3 }))).toBe('stored');
        expect(await send(newTurn(projectId, { conversationId: randomUUID() }))).toBe('stored');
        const waiting = await store.servedTurns.list({ projectId, state: 'queued', limit: 9 });
        for (const { turnId } of waiting.slice(0, 2)) await store.turnLog.acquire(turnId, 1);
        expect([await send(), await send()]).toEqual(['stored', 'full']);
      }));

    test('a turn counts its tokens when it ends, and the day by the clock of the store', () =>
      withTurns(async (store, projectId) => {
        const spend = async (uses: readonly object[]): Promise<void> => {
          const { turnId } = await submitted(store, projectId);
          const { epoch } = await store.turnLog.acquire(turnId, 1);
          const events = uses.map((data, index) => ({
            seq: index + 1,
            kind: 'usage',
            data: data as Record<string, never>,
          }));
          await store.turnLog.append(turnId, epoch, 1, events);
          expect(await send(1)).toBe('stored');
          await finish(store, turnId);
        };
        const send = async (tokensPerDay: number | null) => {
          const turn = limited(projectId, { tokensPerDay });
          return (await submit(store, turn)).kind;
        };
        // What is no number of tokens counts nothing, and keeps no turn from ending.
        const odd = { inputTokens: 'many', outputTokens: 1e300 };
        await spend([odd, { inputTokens: -5, outputTokens: null }, {}]);
        await spend([{ inputTokens: 70, outputTokens: 10 }, odd, { inputTokens: 20 }]);
        expect([await send(101), await send(100), await send(null)]).toEqual([
          'stored',
          'spent',
          'stored',
        ]);
        const outcome = await submit(store, limited(projectId, { tokensPerDay: 100 }));
        const rest = outcome.kind === 'spent' ? outcome.dayEndsInMs : 0;
        expect(rest).toBeGreaterThan(0);
        expect(rest).toBeLessThanOrEqual(DAY_MS);
        const elsewhere = limited(`${projectId}-other`, { tokensPerDay: 100 });
        expect((await submit(store, elsewhere)).kind).toBe('stored');
      }));

    async function submitted(store: OpenedTurns, projectId: string): Promise<NewTurn> {
      const turn = limited(projectId, {});
      await submit(store, turn);
      return turn;
    }
  });
}

import { randomUUID } from 'node:crypto';

import type {
  Clock,
  ConversationStore,
  NewTurn,
  RequestKey,
  RequestKeys,
  ServedTurns,
  StoreTransaction,
  SubmitOutcome,
  TurnLog,
} from '@orion/contracts';
import { createFakeClock } from '../fake-clock.ts';

export type OpenedTurns = {
  readonly servedTurns: ServedTurns;
  readonly requestKeys: RequestKeys;
  readonly turnLog: TurnLog;
  readonly conversations: ConversationStore;
};

export type Submitted = SubmitOutcome & { readonly queued: readonly string[] };

/** What each group of the contract works with. */
export type TestTurns = {
  /** With a project that no other test uses. */
  readonly withTurns: (
    use: (store: OpenedTurns, projectId: string) => Promise<void>,
  ) => Promise<void>;
  readonly newTurn: (projectId: string, more?: Partial<NewTurn>) => NewTurn;
  readonly submit: (
    store: OpenedTurns,
    turn: NewTurn,
    key?: RequestKey | null,
    enqueue?: (transaction: StoreTransaction) => Promise<void>,
  ) => Promise<Submitted>;
  readonly finish: (store: OpenedTurns, turnId: string, status?: string) => Promise<void>;
};

export const KEY: RequestKey = { key: 'k', route: '/api/chat/messages', bodySha256: 'aa' };

export function testTurns(
  factory: (options: {
    readonly clock: Clock;
  }) => Promise<OpenedTurns & { close(): Promise<void> }>,
): TestTurns {
  /** With a project that no other test uses. */
  const withTurns = async (
    use: (store: OpenedTurns, projectId: string) => Promise<void>,
  ): Promise<void> => {
    const opened = await factory({ clock: createFakeClock(1) });
    try {
      await use(opened, randomUUID());
    } finally {
      await opened.close();
    }
  };
  const newTurn = (projectId: string, more: Partial<NewTurn> = {}): NewTurn => ({
    turnId: randomUUID(),
    newConversationId: randomUUID(),
    projectId,
    content: 'a text with U+0000 \u0000 and half a character \ud800',
    mode: 'act',
    conversationId: null,
    protocol: null,
    metadata: { of: ['a', 'client'] },
    ...more,
  });
  const submit = async (
    { servedTurns }: OpenedTurns,
    turn: NewTurn,
    key: RequestKey | null = null,
    enqueue = (_transaction: StoreTransaction): Promise<void> => Promise.resolve(),
  ): Promise<Submitted> => {
    const queued: string[] = [];
    const outcome = await servedTurns.submit(turn, key, async (turnId, transaction) => {
      transaction.onEnd((end) => queued.push(`${turnId} ${end}`));
      await enqueue(transaction);
    });
    return { ...outcome, queued };
  };
  const finish = async ({ turnLog }: OpenedTurns, turnId: string, status = 'complete') => {
    const { epoch, lastSeq } = await turnLog.acquire(turnId, 1);
    const done = { seq: lastSeq + 1, kind: 'done', data: { status } };
    await turnLog.append(turnId, epoch, lastSeq + 1, [done]);
  };
  return { withTurns, newTurn, submit, finish };
}

import type {
  CompleteAttempt,
  ConversationSave,
  FinishOutcome,
  TurnAppend,
} from '@orion/contracts';
import { saveConversation } from '../conversations/sql-conversation-store.ts';
import { RolledBack, SqlRefusedError } from '../engine/sql-database.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { storeTransaction } from '../engine/store-transaction.ts';
import { appendInside } from './append-all.ts';

export type TurnEnd = {
  readonly append: TurnAppend;
  readonly conversation: ConversationSave | null;
  readonly complete?: CompleteAttempt | undefined;
};

/** The end of a turn in one transaction: its last events, its conversation and the attempt of a queue, or nothing. */
export async function finishTurn(
  database: SqlDatabase,
  { append, conversation, complete }: TurnEnd,
): Promise<FinishOutcome> {
  try {
    return await storeTransaction(database, async (inside, transaction) => {
      const { isNew, outcome } = await appendInside(inside, append);
      if (outcome.kind !== 'stored') return outcome;
      const { lastSeq } = outcome;
      // A repeat: what was stored was stored with all that belongs to it.
      if (!isNew) return { kind: 'stored', lastSeq, revision: null };
      let revision: number | null = null;
      if (conversation !== null) {
        // The append holds the turn's row: the fence needs no look of its own.
        const saved = await saveConversation(inside, conversation);
        if (saved.kind !== 'saved') throw new NotFinished(saved);
        ({ revision } = saved);
      }
      if (complete !== undefined && !(await complete(transaction)))
        throw new NotFinished({ kind: 'fenced' });
      return { kind: 'stored', lastSeq, revision };
    });
  } catch (error) {
    if (error instanceof NotFinished) return error.outcome;
    if (error instanceof SqlRefusedError) return { kind: 'refused', message: error.message };
    throw error;
  }
}

/** Rolls the transaction back. */
class NotFinished extends RolledBack {
  readonly outcome: Exclude<FinishOutcome, { kind: 'stored' }>;

  constructor(outcome: Exclude<FinishOutcome, { kind: 'stored' }>) {
    super('the turn was not finished');
    this.outcome = outcome;
  }
}

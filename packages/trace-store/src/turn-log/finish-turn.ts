import type { ConversationSave, FinishOutcome, SaveOutcome, TurnAppend } from '@orion/contracts';
import { saveConversation } from '../conversations/sql-conversation-store.ts';
import { RolledBack, SqlRefusedError } from '../engine/sql-database.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { appendInside } from './append-all.ts';

/** The end of a turn in one transaction: its last events and its conversation, or nothing. */
export async function finishTurn(
  database: SqlDatabase,
  append: TurnAppend,
  conversation: ConversationSave,
  now: number,
): Promise<FinishOutcome> {
  try {
    return await database.transaction(async (inside) => {
      const { isNew, outcome } = await appendInside(inside, append);
      if (outcome.kind !== 'stored') return outcome;
      const { lastSeq } = outcome;
      // A repeat: what was stored was stored with its conversation.
      if (!isNew) return { kind: 'stored', lastSeq, revision: null };
      // The append holds the turn's row: the fence needs no look of its own.
      const saved = await saveConversation(inside, conversation, now);
      if (saved.kind !== 'saved') throw new NotSaved(saved);
      return { kind: 'stored', lastSeq, revision: saved.revision };
    });
  } catch (error) {
    if (error instanceof NotSaved) return error.outcome;
    if (error instanceof SqlRefusedError) return { kind: 'refused', message: error.message };
    throw error;
  }
}

/** Rolls the transaction back. */
class NotSaved extends RolledBack {
  readonly outcome: Exclude<SaveOutcome, { kind: 'saved' }>;

  constructor(outcome: Exclude<SaveOutcome, { kind: 'saved' }>) {
    super('the conversation was not saved');
    this.outcome = outcome;
  }
}

import type {
  Clock,
  ConversationStore,
  ConversationSummary,
  Message,
  StoredConversation,
} from '@orion/contracts';
import { insertStatement, storeUnavailable } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { titleOf } from './title.ts';

const ROWS_PER_INSERT = 1_000;

/**
 * Conversations in a database.
 *
 * 1. A save is whole or has not happened, and two saves of one conversation come one after the other.
 * 2. A message comes back as it was, U+0000 and lone surrogates included.
 * 3. Messages that are already stored are not written again.
 */
export function createSqlConversationStore(
  database: SqlDatabase,
  options: { readonly clock: Pick<Clock, 'now'> },
): ConversationStore {
  return {
    async save({ conversationId, projectId, history, openSessionId }) {
      const messages = history.map((message) => JSON.stringify(message));
      const now = options.clock.now();
      await database.transaction(async (inside) => {
        // First, since this is what a second save waits for.
        await inside.run(
          `insert into conversation
             (conversation_id, project_id, title, messages, created_at, updated_at, open_session_id)
           values ($1, $2, $3, $4, $5, $5, $6)
           on conflict (conversation_id) do update set
             project_id = excluded.project_id, title = excluded.title,
             messages = excluded.messages, updated_at = excluded.updated_at,
             open_session_id = excluded.open_session_id`,
          [conversationId, projectId, titleOf(history), messages.length, now, openSessionId],
        );
        await replaceMessages(inside, conversationId, messages);
      });
    },

    async load(conversationId) {
      // One statement sees one state of the conversation.
      const rows = await database.all(
        `select conversation.*, conversation_message.message
         from conversation left join conversation_message
           on conversation_message.conversation_id = conversation.conversation_id
         where conversation.conversation_id = $1
         order by conversation_message.position`,
        [conversationId],
      );
      const [first] = rows;
      if (first === undefined) return null;
      const history = rows.flatMap(({ message = null }) =>
        message === null ? [] : [parseMessage(conversationId, String(message))],
      );
      return { ...toSummary(first), history } satisfies StoredConversation;
    },

    async list({ projectId, limit }) {
      const parameters: SqlValue[] = [Math.max(0, limit)];
      if (projectId !== undefined) parameters.push(projectId);
      const rows = await database.all(
        `select * from conversation ${projectId === undefined ? '' : 'where project_id = $2'}
         order by updated_at desc, created_at desc, conversation_id desc limit $1::bigint`,
        parameters,
      );
      return rows.map(toSummary);
    },
  };
}

async function replaceMessages(
  inside: SqlRunner,
  conversationId: string,
  messages: readonly string[],
): Promise<void> {
  const stored = await inside.all(
    'select message from conversation_message where conversation_id = $1 order by position',
    [conversationId],
  );
  let equal = 0;
  while (equal < stored.length && stored[equal]?.['message'] === messages[equal]) equal += 1;
  if (equal < stored.length) {
    await inside.run(
      'delete from conversation_message where conversation_id = $1 and position >= $2',
      [conversationId, equal],
    );
  }
  for (let start = equal; start < messages.length; start += ROWS_PER_INSERT) {
    const part = messages.slice(start, start + ROWS_PER_INSERT);
    await inside.run(
      insertStatement(
        'conversation_message',
        ['conversation_id', 'position', 'message'],
        part.length,
      ),
      part.flatMap((message, index) => [conversationId, start + index, message]),
    );
  }
}

function toSummary(row: SqlRow): ConversationSummary {
  const openSessionId = row['open_session_id'] ?? null;
  return {
    conversationId: String(row['conversation_id']),
    projectId: String(row['project_id']),
    title: String(row['title']),
    messages: Number(row['messages']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    openSessionId: openSessionId === null ? null : String(openSessionId),
  };
}

function parseMessage(conversationId: string, text: string): Message {
  try {
    return JSON.parse(text) as Message;
  } catch {
    throw storeUnavailable(`The conversation ${conversationId} is damaged`, { retryable: false });
  }
}

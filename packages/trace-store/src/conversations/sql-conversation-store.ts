import type {
  ConversationPart,
  ConversationSave,
  ConversationStore,
  ConversationSummary,
  Message,
  SaveOutcome,
} from '@orion/contracts';
import { databaseNow, insertAll, storeUnavailable } from '../engine/sql-database.ts';
import type {
  SqlDatabase,
  SqlRow,
  SqlRunner,
  SqlScalar,
  SqlValue,
} from '../engine/sql-database.ts';
import { cleanTitle, titleOf } from './title.ts';

/**
 * Conversations in a database.
 *
 * 1. A save is all or nothing. Two saves of one conversation are serialised, and the second finds that the revision it
 *    builds on is gone.
 * 2. A message is read back exactly as it was saved, U+0000 and lone surrogates included.
 * 3. A save with a fence holds the row of its turn: nobody acquires or ends the turn while it is saved.
 * 4. Messages that are already stored are not written again.
 * 5. Times are by the database's clock: whichever process saves, the latest conversation is the one that was saved last.
 */
export function createSqlConversationStore(database: SqlDatabase): ConversationStore {
  return {
    save: (conversation) =>
      database.transaction(async (inside): Promise<SaveOutcome> => {
        const { fence } = conversation;
        if (fence !== undefined && !(await holdTurn(inside, fence))) return { kind: 'fenced' };
        return saveConversation(inside, conversation);
      }),

    async load(conversationId, part = { from: 0 }) {
      const parameters: SqlValue[] = [conversationId];
      const range = positions(part, parameters);
      // A single statement sees a single state of the conversation.
      const rows = await database.all(
        `select conversation.*, conversation_message.position, conversation_message.message
         from conversation left join conversation_message
           on conversation_message.conversation_id = conversation.conversation_id
           and ${range}
         where conversation.conversation_id = $1
         order by conversation_message.position`,
        parameters,
      );
      const [row] = rows;
      if (row === undefined) return null;
      const history = rows.flatMap(({ message = null }) =>
        message === null ? [] : [parseMessage(conversationId, String(message))],
      );
      const summary = toSummary(row);
      return { ...summary, history, from: Number(row['position'] ?? summary.messages) };
    },

    async rename(conversationId, title) {
      const changed = await database.run(
        'update conversation set title = $2 where conversation_id = $1',
        [conversationId, cleanTitle(title)],
      );
      return changed > 0;
    },

    async list({ projectId, after, limit }) {
      const parameters: SqlValue[] = [Math.max(0, limit)];
      const next = (value: SqlScalar): string => `$${parameters.push(value)}`;
      const terms = [
        ...(projectId === undefined ? [] : [`project_id = ${next(projectId)}`]),
        ...(after === undefined
          ? []
          : [
              `(updated_at, created_at, conversation_id)
                 < (${next(after.updatedAt)}, ${next(after.createdAt)}, ${next(after.conversationId)})`,
            ]),
      ];
      const rows = await database.all(
        `select * from conversation ${terms.length === 0 ? '' : `where ${terms.join(' and ')}`}
         order by updated_at desc, created_at desc, conversation_id desc limit $1::bigint`,
        parameters,
      );
      return rows.map(toSummary);
    },
  };
}

/** Keeps the turn with its owner until the transaction ends; false if it is not the owner's, over, or went back. */
async function holdTurn(
  inside: SqlRunner,
  { turnId, epoch, lastSeq = 0 }: NonNullable<ConversationSave['fence']>,
): Promise<boolean> {
  const held = await inside.run(
    `update turn set active_at = ${databaseNow(inside.dialect)}
     where turn_id = $1 and epoch = $2 and last_seq >= $3 and finished_at is null`,
    [turnId, epoch, lastSeq],
  );
  return held > 0;
}

/** Inside a transaction; what is not saved has changed nothing. */
export async function saveConversation(
  inside: SqlRunner,
  conversation: ConversationSave,
): Promise<SaveOutcome> {
  const { conversationId, projectId, history, from, openSessionId, revision } = conversation;
  const messages = history.map((message) => JSON.stringify(message));
  const next = revision + 1;
  // First, because a second save waits for this row.
  const values = [
    conversationId,
    projectId,
    titleOf(history),
    from + messages.length,
    openSessionId,
    next,
    revision,
  ];
  // Of a conversation that is gone nothing may be stored but all of it: a store that went back does not have it yet.
  const statement = (revision === 0 ? insertFirst : update)(from, databaseNow(inside.dialect));
  const changed = await inside.run(statement, values);
  if (changed === 0) return { kind: 'stale' };
  // What was not stored has no messages.
  const stored = revision === 0 ? [] : await messagesFrom(inside, conversationId, from);
  await replaceMessages(inside, { conversationId, from, stored, messages });
  return { kind: 'saved', revision: next };
}

const saved = (now: string): string =>
  `messages = $4, updated_at = ${now}, open_session_id = $5, revision = $6`;
/** A part of a conversation does not have the message that it is named after. Each names every parameter. */
const titleWith = (from: number): string =>
  from === 0 ? '$3' : 'coalesce(conversation.title, $3)';

function insertFirst(from: number, now: string): string {
  return `insert into conversation
       (conversation_id, project_id, title, messages, created_at, updated_at, open_session_id, revision)
     values ($1, $2, $3, $4, ${now}, ${now}, $5, $6)
     on conflict (conversation_id) do update set
       project_id = $2, title = ${titleWith(from)}, ${saved(now)}
     where conversation.revision = $7`;
}

function update(from: number, now: string): string {
  return `update conversation set project_id = $2, title = ${titleWith(from)}, ${saved(now)}
     where conversation_id = $1 and revision = $7`;
}

/** An SQL condition for the positions to read; it does not read the texts. */
function positions(part: ConversationPart, parameters: SqlValue[]): string {
  const position = 'conversation_message.position';
  if ('from' in part) return `${position} >= $${parameters.push(part.from)}`;
  if ('maxBytes' in part) {
    const fits = `bytes_from_here <= $${parameters.push(part.maxBytes)}`;
    return `${position} >= ${firstThat(fits, '')}`;
  }
  const before = `position < $${parameters.push(part.before)}::bigint`;
  const fits = `(place = 1 or bytes_from_here <= $${parameters.push(part.pageBytes)})`;
  return `conversation_message.${before} and ${position} >= ${firstThat(fits, `and ${before}`)}`;
}

function firstThat(fits: string, and: string): string {
  return `(select coalesce(min(position), ${Number.MAX_SAFE_INTEGER}) from (
      select position, sum(octet_length(message)) over (order by position desc) as bytes_from_here,
        row_number() over (order by position desc) as place
      from conversation_message where conversation_id = $1 ${and}
    ) as sized where ${fits})`;
}

function messagesFrom(
  inside: SqlRunner,
  conversationId: string,
  from: number,
): Promise<readonly SqlRow[]> {
  return inside.all(
    `select message from conversation_message
     where conversation_id = $1 and position >= $2 order by position`,
    [conversationId, from],
  );
}

async function replaceMessages(
  inside: SqlRunner,
  {
    conversationId,
    from,
    stored,
    messages,
  }: {
    readonly conversationId: string;
    readonly from: number;
    readonly stored: readonly SqlRow[];
    readonly messages: readonly string[];
  },
): Promise<void> {
  const changed = stored.findIndex(({ message }, index) => message !== messages[index]);
  const equal = changed === -1 ? stored.length : changed;
  if (changed !== -1) {
    await inside.run(
      'delete from conversation_message where conversation_id = $1 and position >= $2',
      [conversationId, from + equal],
    );
  }
  await insertAll(
    inside,
    'conversation_message',
    ['conversation_id', 'position', 'message'],
    messages.slice(equal).map((message, index) => [conversationId, from + equal + index, message]),
  );
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
    revision: Number(row['revision']),
  };
}

function parseMessage(conversationId: string, text: string): Message {
  try {
    return JSON.parse(text) as Message;
  } catch {
    throw storeUnavailable(`The conversation ${conversationId} is damaged`, { retryable: false });
  }
}

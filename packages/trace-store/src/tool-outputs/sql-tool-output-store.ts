import { OrionError } from '@orion/contracts';
import type { JsonValue, ToolOutputRecord, ToolOutputStore } from '@orion/contracts';
import { storeUnavailable, whereAll } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlValue } from '../engine/sql-database.ts';

const ID = /^[A-Za-z0-9_-]{1,128}$/u;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/**
 * Large results of tools in a database.
 *
 * 1. An id is checked before it reaches the database.
 * 2. Storing a record under an existing id replaces it, so an unanswered `put` may be repeated.
 * 3. A damaged record does not hide others.
 */
export function createSqlToolOutputStore(database: SqlDatabase): ToolOutputStore {
  return {
    async put(record) {
      checkId(record.id);
      await database.run(
        `insert into tool_output
           (id, tool_name, conversation_id, message_id, created_at, success, parameters, output)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (id) do update set
           tool_name = excluded.tool_name, conversation_id = excluded.conversation_id,
           message_id = excluded.message_id, created_at = excluded.created_at,
           success = excluded.success, parameters = excluded.parameters, output = excluded.output`,
        [
          record.id,
          record.tool_name,
          record.conversation_id,
          record.message_id,
          record.created_at,
          record.success ? 1 : 0,
          JSON.stringify(record.parameters),
          JSON.stringify(record.output),
        ],
      );
    },

    async get(id) {
      checkId(id);
      const [row] = await database.all('select * from tool_output where id = $1', [id]);
      if (row === undefined) return null;
      const record = toRecord(row);
      if (record === null) {
        throw storeUnavailable(`The tool output ${id} is damaged`, { retryable: false });
      }
      return record;
    },

    async list(filter) {
      const parameters: SqlValue[] = [];
      const matching = whereAll(
        {
          'conversation_id =': filter.conversation_id,
          'tool_name =': filter.tool_name,
          'success =': filter.success === undefined ? undefined : Number(filter.success),
          'created_at >': filter.after,
          'created_at <': filter.before,
        },
        parameters,
      );
      const direction = filter.order === 'oldest' ? 'asc' : 'desc';
      const limit = Math.min(MAX_LIMIT, Math.max(1, filter.limit ?? DEFAULT_LIMIT));
      const offset = Math.max(0, filter.offset ?? 0);

      const [counted] = await database.all(
        `select count(*) as total from tool_output ${matching}`,
        parameters,
      );
      const rows = await database.all(
        `select * from tool_output ${matching}
         order by created_at ${direction}, id ${direction}
         limit $${parameters.length + 1}::bigint offset $${parameters.length + 2}::bigint`,
        [...parameters, limit, offset],
      );
      const records = rows.map(toRecord).filter((record) => record !== null);
      return {
        records,
        total: Number(counted?.['total'] ?? 0),
        damaged: rows.length - records.length,
      };
    },
  };
}

function checkId(id: string): void {
  if (ID.test(id)) return;
  throw new OrionError({
    code: 'INVALID_OUTPUT_ID',
    message: 'An output id has letters, digits, _ and -, at most 128',
  });
}

function toRecord(row: SqlRow): ToolOutputRecord | null {
  try {
    return {
      id: String(row['id']),
      tool_name: String(row['tool_name']),
      conversation_id: String(row['conversation_id']),
      message_id: String(row['message_id']),
      created_at: Number(row['created_at']),
      success: row['success'] === 1,
      parameters: JSON.parse(String(row['parameters'])) as JsonValue,
      output: JSON.parse(String(row['output'])) as JsonValue,
    };
  } catch {
    return null;
  }
}

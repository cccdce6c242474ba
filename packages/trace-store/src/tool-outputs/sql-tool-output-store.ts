import { OrionError } from '@orion/contracts';
import type { StoredToolOutput, ToolOutputStore } from '@orion/contracts';
import { whereAll } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { fittingOutput } from './fitting-output.ts';

const ID = /^[A-Za-z0-9_-]{1,128}$/u;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** All that is known of an output without its text: `select *` would do, and say less. */
const KNOWN = `id, project_id, tool_name, conversation_id, message_id, created_at, success,
  bytes, characters, cut, preview`;

/**
 * Large results of tools in a database.
 *
 * 1. An id is checked before it reaches the database.
 * 2. Storing a record under an existing id replaces it, so an unanswered `put` may be repeated.
 * 3. A damaged record does not hide others.
 * 4. A text is read when it is asked for, and never parsed here.
 */
export function createSqlToolOutputStore(database: SqlDatabase): ToolOutputStore {
  return {
    async put({ parameters, output, ...known }) {
      checkId(known.id);
      const { text, ...measured } = fittingOutput(output);
      const ofCall = JSON.stringify(parameters);
      const row = {
        ...known,
        success: known.success ? 1 : 0,
        ...measured,
        cut: measured.cut ? 1 : 0,
        stored_bytes: measured.bytes + Buffer.byteLength(ofCall),
        expired_at: null,
      };
      await database.transaction(async (inside) => {
        await upsert(inside, 'tool_output', row);
        await upsert(inside, 'tool_output_text', {
          id: known.id,
          parameters: ofCall,
          output: text,
        });
      });
      return { ...known, ...measured };
    },

    async find(id) {
      checkId(id);
      const [row] = await database.all(
        `select ${KNOWN}, expired_at from tool_output where id = $1`,
        [id],
      );
      if (row === undefined) return null;
      if (row['expired_at'] !== null) throw expired(id);
      return toStoredOutput(row) ?? raiseDamaged(id);
    },

    async read(id) {
      checkId(id);
      const [row] = await database.all(
        `select parameters, output, expired_at from tool_output
         left join tool_output_text using (id) where id = $1`,
        [id],
      );
      if (row === undefined) return null;
      if (row['expired_at'] !== null) throw expired(id);
      const { parameters, output } = row;
      if (typeof parameters !== 'string' || typeof output !== 'string') return raiseDamaged(id);
      return { parameters, output };
    },

    async list(filter) {
      const parameters: SqlValue[] = [];
      const conditions = whereAll(
        {
          'project_id =': filter.project_id,
          'conversation_id =': filter.conversation_id,
          'tool_name =': filter.tool_name,
          'success =': filter.success === undefined ? undefined : Number(filter.success),
          'created_at >': filter.after,
          'created_at <': filter.before,
        },
        parameters,
      );
      const matching = `${conditions === '' ? 'where' : `${conditions} and`} expired_at is null`;
      const direction = filter.order === 'oldest' ? 'asc' : 'desc';
      const limit = Math.min(MAX_LIMIT, Math.max(1, filter.limit ?? DEFAULT_LIMIT));
      const offset = Math.max(0, filter.offset ?? 0);

      const [counted] = await database.all(
        `select count(*) as total from tool_output ${matching}`,
        parameters,
      );
      const rows = await database.all(
        `select ${KNOWN} from tool_output ${matching}
         order by created_at ${direction}, id ${direction}
         limit $${parameters.length + 1}::bigint offset $${parameters.length + 2}::bigint`,
        [...parameters, limit, offset],
      );
      const outputs = rows.map(toStoredOutput).filter((output) => output !== null);
      return {
        outputs,
        total: Number(counted?.['total'] ?? 0),
        damaged: rows.length - outputs.length,
      };
    },
  };
}

async function upsert(
  runner: SqlRunner,
  table: string,
  row: Readonly<Record<string, string | number | null>>,
): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  const others = columns.filter((column) => column !== 'id');
  await runner.run(
    `insert into ${table} (${columns.join(', ')}) values (${places.join(', ')})
     on conflict (id) do update set
       ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    Object.values(row),
  );
}

function checkId(id: string): void {
  if (ID.test(id)) return;
  throw new OrionError({
    code: 'INVALID_OUTPUT_ID',
    message: 'An output id has letters, digits, _ and -, at most 128',
  });
}

function expired(id: string): OrionError {
  return new OrionError({
    code: 'OUTPUT_EXPIRED',
    message: `The tool output ${id} was removed for its age or to make room.`,
  });
}

function raiseDamaged(id: string): never {
  throw new OrionError({ code: 'OUTPUT_CORRUPT', message: `The tool output ${id} is damaged.` });
}

/** Null for a row that nothing here has written. */
function toStoredOutput(row: SqlRow): StoredToolOutput | null {
  const { id, project_id, tool_name, conversation_id, message_id, preview } = row;
  const { created_at, bytes, characters } = row;
  const texts = [id, project_id, tool_name, conversation_id, message_id, preview];
  const numbers = [created_at, bytes, characters];
  if (!texts.every((text) => typeof text === 'string') || !numbers.every(Number.isSafeInteger))
    return null;
  const known = {
    id,
    project_id,
    tool_name,
    conversation_id,
    message_id,
    created_at,
    bytes,
    characters,
    preview,
  } as Omit<StoredToolOutput, 'success' | 'cut'>;
  return { ...known, success: row['success'] === 1, cut: row['cut'] === 1 };
}

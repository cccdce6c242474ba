import { insertAll } from '../engine/sql-database.ts';
import type { SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { moveEnd } from './put.ts';
import type { Put } from './put.ts';
import { wholeText } from './shared-fields.ts';

/** The statement for one turn, shorter where nothing but text is appended. */
function moveOne({ turnId, epoch, afterSeq, events, end, checkpoint }: Put): {
  readonly sql: string;
  readonly parameters: SqlValue[];
} {
  const parameters: SqlValue[] = [turnId, epoch, afterSeq, events.length];
  const add = (value: string | null): string =>
    value === null ? '' : `$${parameters.push(value)}::text`;
  const columns = {
    turnId: '$1',
    epoch: '$2::bigint',
    afterSeq: '$3::integer',
    events: '$4::integer',
    end: add(end),
    checkpoint: add(checkpoint),
  };
  return { sql: moveEnd('sqlite', columns), parameters };
}

/** The turns to which something was stored. */
export async function putSqlite(
  inside: SqlRunner,
  puts: readonly Put[],
): Promise<readonly SqlRow[]> {
  const moved: SqlRow[] = [];
  for (const put of puts) {
    const { sql, parameters } = moveOne(put);
    const [row] = await inside.all(sql, parameters);
    if (row === undefined) continue;
    moved.push(row);
    const { turn_no: turnNo = null, active_at: storedAt = null } = row;
    await insertAll(
      inside,
      'turn_event',
      ['turn_no', 'epoch', 'stored_at', 'seq', 'kind', 'data'],
      put.events.map(({ seq, kind, text }) => [
        turnNo,
        put.epoch,
        storedAt,
        seq,
        kind,
        wholeText(text),
      ]),
    );
  }
  return moved;
}

import type { JsonValue, TurnClaim } from '@orion/contracts';
import { databaseNow } from '../engine/sql-database.ts';
import type { SqlRunner } from '../engine/sql-database.ts';
import { fenced, finished, gone } from './refusals.ts';

/** The random part of an epoch. */
const EPOCH_STEP = 2 ** 20;

/**
 * Gives the turn an owner; of a served turn the attempts since its last checkpoint are counted. An attempt that acquires
 * it again, since it got no answer, is still the same one.
 */
export async function acquire(
  database: SqlRunner,
  turnId: string,
  attempt: number | null,
  { mayBegin = true }: { readonly mayBegin?: boolean } = {},
): Promise<TurnClaim> {
  const now = databaseNow(database.dialect);
  const random =
    database.dialect === 'postgres'
      ? `cast(floor(random() * ${EPOCH_STEP}) as bigint)`
      : `(random() & ${EPOCH_STEP - 1})`;
  const take = `epoch = (turn.epoch / ${EPOCH_STEP} + 1) * ${EPOCH_STEP} + ${random},
      attempt = coalesce($2::integer, turn.attempt), active_at = ${now},
      idle_attempts = turn.idle_attempts + case when $2::integer > turn.attempt then 1 else 0 end,
      state = case when turn.state is null then null else 1 end
    where turn.turn_id = $1 and turn.finished_at is null
      and ($2::integer is null or turn.attempt <= $2::integer)
    returning epoch, last_seq, checkpoint, idle_attempts`;
  const begin = `insert into turn (turn_id, epoch, attempt, last_seq, active_at, created_at, idle_attempts)
    values ($1, ${EPOCH_STEP} + ${random}, coalesce($2::integer, 0), 0, ${now}, ${now},
      case when $2::integer is null then 0 else 1 end)
    on conflict (turn_id) do update`;
  const [row] = await database.all(`${mayBegin ? begin : 'update turn'} set ${take}`, [
    turnId,
    attempt,
  ]);
  if (row !== undefined) {
    const { checkpoint = null } = row;
    return {
      turnId,
      epoch: Number(row['epoch']),
      lastSeq: Number(row['last_seq']),
      checkpoint: checkpoint === null ? null : (JSON.parse(String(checkpoint)) as JsonValue),
      idleAttempts: Number(row['idle_attempts']),
    };
  }
  const [found] = await database.all('select finished_at from turn where turn_id = $1', [turnId]);
  if (found === undefined) throw gone(turnId);
  throw found['finished_at'] === null
    ? fenced(turnId, `of the attempt ${attempt}`)
    : finished(turnId);
}

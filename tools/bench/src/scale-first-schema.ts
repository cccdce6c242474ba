import type { Client } from 'pg';

import { textEvent } from './scale-events.ts';

/**
 * The log as the first schema had it, for comparison: the id of the turn in each row and in its key, and an index on what
 * every append changes.
 */
export const FIRST_SCHEMA = `
  create schema first;
  create table first.turn (
    turn_id text primary key,
    epoch bigint not null,
    last_seq bigint not null,
    active_at bigint not null,
    finished_at bigint,
    folded_at bigint
  );
  create index turn_to_fold on first.turn (active_at) where folded_at is null;
  create table first.turn_event (
    turn_id text not null,
    seq bigint not null,
    epoch bigint not null,
    kind text not null,
    data text not null,
    stored_at bigint not null,
    primary key (turn_id, seq)
  )`;

/** Its statement for one turn, and the same for many. */
const APPEND = `with given as (
    select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])
      as given (turn_id, epoch, seq, kind, data)
  ), moved as (
    update first.turn set last_seq = given.seq, active_at = $6::bigint,
      finished_at = case when given.kind = 'done' then $6::bigint else turn.finished_at end
    from given where turn.turn_id = given.turn_id and turn.epoch = given.epoch
      and turn.last_seq = given.seq - 1
    returning turn.turn_id
  ), stored as (
    insert into first.turn_event (turn_id, seq, epoch, kind, data, stored_at)
    select given.turn_id, given.seq, given.epoch, given.kind, given.data, $6::bigint
    from given join moved on moved.turn_id = given.turn_id
  )
  select pg_notify('orion_turn', case when count(*) = 1 then min(turn_id) else '*' end), count(*) as moved
  from moved`;

export async function beginInFirstSchema(
  client: Client,
  turnIds: readonly string[],
): Promise<void> {
  await client.query(
    `insert into first.turn (turn_id, epoch, last_seq, active_at)
     select turn_id, 1, 0, 0 from unnest($1::text[]) as given (turn_id)`,
    [turnIds],
  );
}

/** One event of each of these turns. */
export async function appendToFirstSchema(
  client: Client,
  turns: readonly { readonly turnId: string; readonly seq: number }[],
): Promise<void> {
  const { rows } = await client.query<{ moved: string }>(APPEND, [
    turns.map(({ turnId }) => turnId),
    turns.map(() => 1),
    turns.map(({ seq }) => seq),
    turns.map(() => 'chunk'),
    turns.map(({ turnId, seq }) => JSON.stringify(textEvent(turnId, seq).data)),
    Date.now(),
  ]);
  if (Number(rows[0]?.moved) !== turns.length) throw new Error('An event was not stored');
}

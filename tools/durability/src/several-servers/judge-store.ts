/** What must hold of the store once all turns are over, whatever happened to the processes that ran them. */
import { numberOf, rowsOf } from '../served-turns/databases.ts';

/** The events of turns that are over. A row may be a pack of them: its first line is what they have in common. */
const EVENTS = `(
  select turn_no, seq, epoch, kind from turn_event where kind <> '~chunks'
  union all
  select turn_no, number, epoch, 'chunk' from turn_event as pack
  cross join lateral (
    select sum(json_array_length(substr(line, strpos(line, '['))::json)) as events
    from unnest((string_to_array(data, chr(10)))[2:]) as line) as counted
  cross join lateral generate_series(seq - events + 1, seq) as number
  where kind = '~chunks')`;

const CHECKS = {
  'turns are not over': 'select count(*) from turn where finished_at is null',
  'jobs are left': "select count(*) from orion_queue.job where state < 'completed'",
  'turns have not one `done` as their last event': `
    select count(*) from turn where last_seq is distinct from (
      select max(seq) from ${EVENTS} as event where event.turn_no = turn.turn_no
      having count(*) filter (where kind = 'done') = 1 and max(seq) = max(seq) filter (where kind = 'done'))`,
  'turns have gaps': `
    select count(*) from (
      select from ${EVENTS} as event group by turn_no having count(*) <> max(seq)) as incomplete`,
  'turns have an event of an earlier owner behind one of a later': `
    with event as (select * from ${EVENTS} as event)
    select count(distinct event.turn_no) from event join event as next
      on next.turn_no = event.turn_no and next.seq = event.seq + 1 and next.epoch < event.epoch`,
} as const;

/** Where each conversation has one turn, which writes one file. */
const CHECKS_OF_MESSAGES = {
  'conversations have not the question and its answer': `
    select count(*) from (
      select from conversation left join conversation_message using (conversation_id)
      where not exists (
        select from turn where turn.conversation_id = conversation.conversation_id and status = 'paused')
      group by conversation_id having count(*) <> 4) as wrong`,
} as const;

/** @param isQueued the engine has the queue */
export async function judgeStore(
  url: string,
  isQueued: boolean,
  more: Readonly<Record<string, string>> = CHECKS_OF_MESSAGES,
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const [what, sql] of Object.entries({ ...CHECKS, ...more })) {
    if (!isQueued && sql.includes('orion_queue')) continue;
    const count = await numberOf(url, sql);
    if (count > 0) failures.push(`in the store, ${count} ${what}`);
  }
  return failures;
}

/** What the store and the engine have of turns that are not over: for whoever looks for what keeps a run from its end. */
export async function describeUnfinished(url: string): Promise<readonly string[]> {
  const turns = await rowsOf(
    url,
    `select turn_id, state, attempt, idle_attempts, epoch, last_seq, now() - to_timestamp(active_at / 1000.0) as idle,
       (select string_agg(concat_ws(' ', name, state, retry_count, now() - heartbeat_on), '; ')
        from orion_queue.job where job.id::text = turn.turn_id) as job
     from turn where finished_at is null order by turn_no`,
  );
  return turns.map((turn) => `not over: ${JSON.stringify(turn)}`);
}

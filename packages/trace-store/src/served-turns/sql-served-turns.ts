import { OrionError } from '@orion/contracts';
import type {
  CancelOutcome,
  JsonObject,
  Mode,
  NewTurn,
  OwnerNews,
  ProtocolName,
  RequestKey,
  ServedTurn,
  ServedTurns,
  SubmitOutcome,
  TurnFence,
  TurnPriority,
  TurnStatus,
  UnfinishedTurn,
} from '@orion/contracts';
import { Places } from '../engine/places.ts';
import { databaseNow, isUnavailable, RolledBack, whereAll } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { storeTransaction } from '../engine/store-transaction.ts';
import { acquire } from '../turn-log/acquire.ts';
import { appendInside } from '../turn-log/append-all.ts';
import { exceededBy } from './allowances.ts';
import { holdName } from './hold-name.ts';
import { claimKey } from './request-keys.ts';

/** Served, and not over. */
const UNFINISHED = 'state is not null and finished_at is null';
const WAITING = 0;
const OWNED = 1;
/** What a list shows of a turn: not the text of its request. */
const COLUMNS = `turn_id, project_id, conversation_id, mode, protocol, state, status, last_seq,
  cancel_requested_at, created_at, finished_at`;
/** Of a turn that is to be run. */
const PLACE = 'turn_id, attempt, project_id, priority';
const MOST_OVERDUE = 100;
const PRIORITIES: readonly TurnPriority[] = ['interactive', 'batch'];

export type SqlServedTurnsOptions = {
  /** Called when a turn was ended here: its readers wait in the turn log. */
  readonly onAppend: (turnId: string, lastSeq: number) => void;
};

/**
 * Served turns in a database.
 *
 * 1. A submission is one transaction. Those of one project that name no conversation come one after the other, so that
 *    each sees the conversation that the one before it has begun; so do all that name the same one.
 * 2. A conversation with a turn that is not over takes no other one; an index sees to it.
 * 3. A repeat with the same id or the same key stores nothing.
 * 4. A queue hears of each transaction in which it took part what became of it.
 */
export function createSqlServedTurns(
  database: SqlDatabase,
  options: SqlServedTurnsOptions,
): ServedTurns {
  // The lock of their project would have them wait for each other with a connection each.
  const unnamed = new Places(1);
  return {
    async submit(turn, key, enqueue) {
      const store = (): Promise<SubmitOutcome> =>
        storeTransaction(database, (inside, transaction) =>
          submit(inside, turn, key, () => enqueue(turn.turnId, transaction)),
        );
      try {
        return await (turn.conversationId === null ? unnamed.within(store) : store());
      } catch (error) {
        if (error instanceof Refused) return error.settle();
        throw error;
      }
    },

    find: (turnId) => find(database, turnId),

    async list({ state, projectId, limit, before }) {
      const parameters: SqlValue[] = [Math.max(0, limit)];
      const conditions = whereAll(
        {
          'project_id =': projectId,
          'state =': state === undefined || state === 'done' ? undefined : stateOf(state),
          'turn_no < (select turn_no from turn as other where other.turn_id =': before,
        },
        parameters,
      );
      const where = before === undefined ? conditions : `${conditions})`;
      const over =
        state === undefined ? '' : `and finished_at is ${state === 'done' ? 'not' : ''} null`;
      const rows = await database.all(
        `select ${COLUMNS} from turn ${where === '' ? 'where' : `${where} and`} state is not null ${over}
         order by turn_no desc limit $1::bigint`,
        parameters,
      );
      return rows.map(toTurn);
    },

    async toRun(turnId) {
      const [row] = await database.all(
        `select ${COLUMNS}, request from turn where turn_id = $1 and ${UNFINISHED}`,
        [turnId],
      );
      if (row === undefined) return null;
      const { projectId, conversationId, mode, protocol } = toTurn(row);
      const { content, metadata } = JSON.parse(String(row['request'])) as StoredRequest;
      return { turnId, projectId, conversationId, mode, protocol, content, metadata };
    },

    async reclaim() {
      await database.run(
        `update turn set state = ${WAITING} where ${UNFINISHED} and state = ${OWNED}`,
      );
    },

    async count({ projectId }) {
      const parameters: SqlValue[] = [];
      const where = whereAll({ 'project_id =': projectId }, parameters);
      const rows = await database.all(
        `select state, count(*) as turns, ${databaseNow(database.dialect)} - min(created_at) as oldest
         from turn ${where === '' ? 'where' : `${where} and`} ${UNFINISHED} group by state`,
        parameters,
      );
      const of = (state: number) => rows.find((row) => Number(row['state']) === state);
      const turns = (state: number): number => Number(of(state)?.['turns'] ?? 0);
      const oldestQueuedMs = Math.max(0, Number(of(WAITING)?.['oldest'] ?? 0));
      return { queued: turns(WAITING), running: turns(OWNED), oldestQueuedMs };
    },

    async waiting() {
      const rows = await database.all(
        `select ${PLACE} from turn where ${UNFINISHED} and state = ${WAITING} order by turn_no`,
      );
      return rows.map(toUnfinished);
    },

    async unfinished({ idleMs }) {
      const rows = await database.all(
        `select ${PLACE} from turn
         where ${UNFINISHED} and active_at <= ${databaseNow(database.dialect)} - $1::bigint order by turn_no`,
        [idleMs],
      );
      return rows.map(toUnfinished);
    },

    async overdue(ownedMs) {
      const since = `${databaseNow(database.dialect)} - $1::bigint`;
      const rows = await database.all(
        `select ${COLUMNS} from turn where ${UNFINISHED} and cancel_requested_at is not null
           and (state = ${WAITING} or cancel_requested_at <= ${since} and active_at <= ${since})
         order by turn_no limit ${MOST_OVERDUE}`,
        [ownedMs],
      );
      return rows.map(toTurn);
    },

    async release({ turnId, epoch }) {
      await database.run(
        `update turn set state = ${WAITING},
           idle_attempts = case when idle_attempts > 0 then idle_attempts - 1 else 0 end
         where turn_id = $1 and epoch = $2 and state = ${OWNED} and finished_at is null`,
        [turnId, epoch],
      );
    },

    look: (owners) => look(database, owners),

    async cancel(turnId, end, withdraw) {
      const outcome = await storeTransaction(database, (inside, transaction) =>
        cancel(inside, turnId, end, () => withdraw(turnId, transaction)),
      );
      if (outcome === 'ended') options.onAppend(turnId, end.afterSeq + end.events.length);
      return outcome;
    },
  };
}

type StoredRequest = { readonly content: string; readonly metadata: JsonObject };

async function submit(
  inside: SqlRunner,
  turn: NewTurn,
  key: RequestKey | null,
  enqueue: () => Promise<void>,
): Promise<SubmitOutcome> {
  const { turnId, projectId } = turn;
  const conversationId = turn.conversationId ?? (await latestOf(inside, turn));
  const known = key === null ? null : await claimKey(inside, projectId, key, turnId);
  if (known?.kind === 'mismatch') return { kind: 'mismatch' };
  if (known?.kind === 'repeated') {
    const first = await find(inside, known.made);
    // A key of a request that made something else is one of another route.
    return first === null ? { kind: 'mismatch' } : { kind: 'repeated', turn: first };
  }
  // Another project may begin one of the same name.
  await holdName(inside, `conversation ${conversationId}`);
  const others = await othersIn(inside, conversationId, turnId);
  if (others.some((row) => row['turn_id'] === turnId)) {
    const own = await find(inside, turnId);
    if (own !== null) return { kind: 'stored', turn: own };
  }
  const refusal = whyNotBeside(others, conversationId, projectId);
  if (refusal !== null) throw new Refused(() => refusal);
  const exceeded = await exceededBy(inside, turn);
  if (exceeded !== null) throw new Refused(() => exceeded);
  const now = databaseNow(inside.dialect);
  const { content, metadata, mode, protocol, priority = 'interactive' } = turn;
  const request = JSON.stringify({ content, metadata } satisfies StoredRequest);
  const [stored] = await inside.all(
    `insert into turn (turn_id, epoch, last_seq, active_at, created_at, state,
       project_id, conversation_id, mode, protocol, request, priority)
     values ($1, 0, 0, ${now}, ${now}, ${WAITING}, $2, $3, $4, $5, $6, $7)
     returning ${COLUMNS}`,
    [turnId, projectId, conversationId, mode, protocol, request, PRIORITIES.indexOf(priority)],
  );
  await enqueue().catch((error: unknown) => {
    // The database has answered, and nothing is wrong with it.
    if (!OrionError.isInstance(error) || isUnavailable(error)) throw error;
    throw new Refused(() => {
      throw error;
    });
  });
  if (stored === undefined) throw new Error('A turn that was inserted is not there');
  return { kind: 'stored', turn: toTurn(stored) };
}

/** The conversation of a submission that names none; one that has a turn now counts as the latest. */
async function latestOf(
  inside: SqlRunner,
  { projectId, newConversationId }: NewTurn,
): Promise<string> {
  await holdName(inside, `project ${projectId}`);
  const [running] = await inside.all(
    `select conversation_id from turn where project_id = $1 and ${UNFINISHED}
     order by turn_no desc limit 1`,
    [projectId],
  );
  const [latest] =
    running === undefined
      ? await inside.all(
          `select conversation_id from conversation where project_id = $1
           order by updated_at desc, created_at desc, conversation_id desc limit 1`,
          [projectId],
        )
      : [running];
  return String(latest?.['conversation_id'] ?? newConversationId);
}

/** What there is in the conversation, and this turn itself if it was stored before. */
function othersIn(
  inside: SqlRunner,
  conversationId: string,
  turnId: string,
): Promise<readonly SqlRow[]> {
  return inside.all(
    `select project_id, null as turn_id from conversation where conversation_id = $1
     union all select project_id, turn_id from turn where conversation_id = $1 and ${UNFINISHED}
     union all select project_id, turn_id from turn where turn_id = $2`,
    [conversationId, turnId],
  );
}

function whyNotBeside(
  others: readonly SqlRow[],
  conversationId: string,
  projectId: string,
): Extract<SubmitOutcome, { kind: 'busy' | 'foreign' }> | null {
  if (others.some((row) => row['project_id'] !== projectId)) return { kind: 'foreign' };
  return others.some((row) => row['turn_id'] !== null) ? { kind: 'busy', conversationId } : null;
}

async function cancel(
  inside: SqlRunner,
  turnId: string,
  { afterSeq, events }: Parameters<ServedTurns['cancel']>[1],
  withdraw: () => Promise<void>,
): Promise<CancelOutcome> {
  const now = databaseNow(inside.dialect);
  // First, because it holds the row: nobody acquires or ends the turn meanwhile.
  const [row] = await inside.all(
    `update turn set cancel_requested_at = coalesce(cancel_requested_at, ${now})
     where turn_id = $1 and ${UNFINISHED} returning state, last_seq`,
    [turnId],
  );
  if (row === undefined) return (await find(inside, turnId)) === null ? 'unknown' : 'finished';
  if (row['state'] === OWNED) return 'requested';
  if (row['last_seq'] !== afterSeq) return 'moved';
  const { epoch } = await acquire(inside, turnId, null);
  const { outcome } = await appendInside(inside, {
    turnId,
    epoch,
    expectSeq: afterSeq + 1,
    events,
  });
  if (outcome.kind !== 'stored')
    throw new Error(`A turn that waits was not ended: ${outcome.kind}`);
  await withdraw();
  return 'ended';
}

async function look(
  database: SqlDatabase,
  owners: readonly TurnFence[],
): Promise<readonly OwnerNews[]> {
  if (owners.length === 0) return [];
  const ids = owners.map(({ turnId }) => turnId);
  const isAny =
    database.dialect === 'postgres' ? '= any($1::text[])' : 'in (select value from json_each($1))';
  const rows = await database.all(
    `select turn_id, epoch, cancel_requested_at from turn
     where turn_id ${isAny} and finished_at is null`,
    [database.dialect === 'postgres' ? ids : JSON.stringify(ids)],
  );
  const found = new Map(rows.map((row) => [row['turn_id'], row]));
  return owners.map(({ turnId, epoch }) => {
    const row = found.get(turnId);
    if (row?.['epoch'] !== epoch) return 'lost';
    return row['cancel_requested_at'] === null ? 'owned' : 'cancelled';
  });
}

async function find(runner: SqlRunner, turnId: string): Promise<ServedTurn | null> {
  const [row] = await runner.all(
    `select ${COLUMNS} from turn where turn_id = $1 and state is not null`,
    [turnId],
  );
  return row === undefined ? null : toTurn(row);
}

/** Rolls back what was begun, such as a key that was taken. */
class Refused extends RolledBack {
  /** Returns or throws what the caller gets. */
  readonly settle: () => SubmitOutcome;

  constructor(settle: () => SubmitOutcome) {
    super('the turn was refused');
    this.settle = settle;
  }
}

function stateOf(state: 'queued' | 'running'): number {
  return state === 'queued' ? WAITING : OWNED;
}

function toUnfinished(row: SqlRow): UnfinishedTurn {
  return {
    turnId: String(row['turn_id']),
    attempt: Number(row['attempt']),
    projectId: String(row['project_id']),
    priority: PRIORITIES[Number(row['priority'])] ?? 'interactive',
  };
}

function toTurn(row: SqlRow): ServedTurn {
  const text = (name: string): string => String(row[name]);
  const time = (name: string): number | null => (row[name] === null ? null : Number(row[name]));
  const { protocol = null, status = null } = row;
  const finishedAt = time('finished_at');
  const running = row['state'] === OWNED ? 'running' : 'queued';
  return {
    turnId: text('turn_id'),
    projectId: text('project_id'),
    conversationId: text('conversation_id'),
    mode: text('mode') as Mode,
    protocol: protocol as ProtocolName | null,
    state: finishedAt === null ? running : 'done',
    status: status === '' ? null : (status as TurnStatus | null),
    lastSeq: Number(row['last_seq']),
    cancelRequested: row['cancel_requested_at'] !== null,
    createdAt: Number(row['created_at']),
    finishedAt,
  };
}

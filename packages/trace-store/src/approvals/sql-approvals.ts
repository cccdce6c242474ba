import { createHash } from 'node:crypto';
import { OrionError } from '@orion/contracts';
import type {
  Approval,
  ApprovalAction,
  Approvals,
  ApprovalState,
  FileDiff,
  NewApproval,
  TurnFence,
} from '@orion/contracts';
import { databaseNow, RolledBack, whereAll } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { toStorableText } from '../safety/json-projection.ts';

const COLUMNS = `approval_id, turn_id, project_id, conversation_id, call_id, session_id, action, hash, state, reason,
  created_at, expires_at, decided_at`;
/** Without the actions of those that wait, which are asked about again and again. */
const CLOSED_COLUMNS = COLUMNS.replace(
  ' action,',
  " case when state = 'pending' then 'null' else action end as action,",
);
const NOT_IN_TIME = 'Nobody decided in time.';
const TURN_IS_OVER = 'The turn is over.';
/** An index takes it beside the id of the turn and the hash of the action. */
const MAX_PLAIN_BYTES = 2_000;
const OUT_OF_DATE = 'Something else would happen now.';

/**
 * Approvals in a database.
 *
 * 1. A state changes once, from pending to another one, in one statement that looks at the state, the hash and the time.
 * 2. The clock is the database's.
 */
export function createSqlApprovals(database: SqlDatabase): Approvals {
  return {
    async request(owner, approval) {
      try {
        return await database.transaction((inside) => request(inside, owner, approval));
      } catch (error) {
        throw error instanceof NotOwned ? fenced(owner) : error;
      }
    },

    async decide(approvalId, hash, { outcome, reason }) {
      await closeOverdue(database);
      const decided = await database.run(
        `update approval set state = $1, reason = $2, diffs = null, decided_at = ${databaseNow(database.dialect)}
         where approval_id = $3 and hash = $4 and state = 'pending'`,
        [outcome, reason === null ? null : toStorableText(reason), approvalId, hash],
      );
      const approval = await find(database, approvalId);
      if (approval === null) return { kind: 'unknown' };
      if (decided > 0) return { kind: 'decided', approval };
      return { kind: approval.state === 'pending' ? 'stale' : 'closed', approval };
    },

    async find(approvalId) {
      await closeOverdue(database);
      return find(database, approvalId);
    },

    async findDiffs(approvalId) {
      await closeOverdue(database);
      const [row] = await database.all('select diffs from approval where approval_id = $1', [
        approvalId,
      ]);
      const diffs = row?.['diffs'] ?? null;
      return diffs === null ? [] : (JSON.parse(String(diffs)) as readonly FileDiff[]);
    },

    async news(approvalIds) {
      if (approvalIds.length === 0) return { closed: [], unknown: [] };
      await closeOverdue(database);
      const isPostgres = database.dialect === 'postgres';
      const rows = await database.all(
        `select ${CLOSED_COLUMNS} from approval where approval_id
         ${isPostgres ? '= any($1::text[])' : 'in (select value from json_each($1))'}`,
        [isPostgres ? approvalIds : JSON.stringify(approvalIds)],
      );
      const known = new Set(rows.map((row) => row['approval_id']));
      return {
        closed: rows.map(toApproval).filter(({ state }) => state !== 'pending'),
        unknown: approvalIds.filter((id) => !known.has(id)),
      };
    },

    async list({ state, projectId, turnId, sessionId, limit, before }) {
      await closeOverdue(database);
      const parameters: SqlValue[] = [Math.max(0, limit)];
      const conditions = whereAll(
        {
          'state =': state,
          'project_id =': projectId,
          'turn_id =': turnId,
          'session_id =': sessionId,
          'approval_no < (select approval_no from approval as other where other.approval_id =':
            before,
        },
        parameters,
      );
      const rows = await database.all(
        `select ${COLUMNS} from approval ${before === undefined ? conditions : `${conditions})`}
         order by approval_no desc limit $1::bigint`,
        parameters,
      );
      return rows.map(toApproval);
    },

    async countPending() {
      await closeOverdue(database);
      const [row] = await database.all(
        "select count(*) as pending from approval where state = 'pending'",
      );
      return Number(row?.['pending'] ?? 0);
    },
  };
}

/** Those that wait are kept, however old. */
export async function pruneApprovals(runner: SqlRunner, before: number): Promise<void> {
  await runner.run("delete from approval where state <> 'pending' and created_at < $1", [before]);
}

async function request(
  inside: SqlRunner,
  { turnId, epoch }: TurnFence,
  approval: NewApproval,
): Promise<Approval> {
  const { callId, sessionId, hash, waitMs } = approval;
  const subject = sessionId === null ? subjectOfCall(callId ?? '') : `session ${sessionId}`;
  const now = databaseNow(inside.dialect);
  // First, because it holds the row: nobody acquires or ends the turn meanwhile.
  const owned = await inside.run(
    'update turn set epoch = epoch where turn_id = $1 and epoch = $2 and finished_at is null',
    [turnId, epoch],
  );
  if (owned === 0) throw new NotOwned('the turn is not this owner’s');
  await closeOverdue(inside);
  await inside.run(
    `update approval set state = 'withdrawn', reason = $4, diffs = null, decided_at = ${now}
     where turn_id = $1 and subject = $2 and hash <> $3 and state = 'pending'`,
    [turnId, subject, hash, OUT_OF_DATE],
  );
  await inside.run(
    `insert into approval (approval_id, turn_id, subject, project_id, conversation_id, call_id, session_id,
       action, hash, state, created_at, expires_at, diffs)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', ${now}, ${now} + $10::bigint, $11)
     on conflict (turn_id, subject, hash) where state <> 'withdrawn' do update
       set diffs = excluded.diffs where approval.state = 'pending'`,
    [
      approval.approvalId,
      turnId,
      subject,
      approval.projectId,
      approval.conversationId,
      callId === null ? null : toStorableText(callId),
      sessionId,
      JSON.stringify(approval.action),
      hash,
      waitMs,
      JSON.stringify(approval.diffs),
    ],
  );
  const [row] = await inside.all(
    `select ${COLUMNS} from approval
     where turn_id = $1 and subject = $2 and hash = $3 and state <> 'withdrawn'`,
    [turnId, subject, hash],
  );
  if (row === undefined) throw new Error('An approval that was inserted is not there');
  // One that was decided before says nothing of what this attempt comes to.
  if (row['state'] === 'pending')
    await inside.run('update turn set idle_attempts = 0 where turn_id = $1', [turnId]);
  return toApproval(row);
}

/**
 * Models and providers choose the id, and no index takes any text. An id that is long, or that cannot be stored, is
 * replaced by its hash; the others are found again in stores that earlier programs have written.
 */
function subjectOfCall(callId: string): string {
  if (Buffer.byteLength(callId) <= MAX_PLAIN_BYTES && callId === toStorableText(callId))
    return `call ${callId}`;
  // As JSON, in which different halves of characters differ.
  return `call-sha256 ${createHash('sha256').update(JSON.stringify(callId)).digest('hex')}`;
}

/** Few are pending, and an index has them. Mostly there is nothing to close, and then nothing is written. */
async function closeOverdue(runner: SqlRunner): Promise<void> {
  const now = databaseNow(runner.dialect);
  const overdue = `state = 'pending' and (expires_at <= ${now} or exists
    (select 1 from turn where turn.turn_id = approval.turn_id and turn.finished_at is not null))`;
  const found = await runner.all(`select 1 as one from approval where ${overdue} limit 1`);
  if (found.length === 0) return;
  await runner.run(
    `update approval set decided_at = ${now}, diffs = null,
       state = case when expires_at <= ${now} then 'expired' else 'withdrawn' end,
       reason = case when expires_at <= ${now} then $1 else $2 end
     where ${overdue}`,
    [NOT_IN_TIME, TURN_IS_OVER],
  );
}

class NotOwned extends RolledBack {}

function fenced({ turnId, epoch }: TurnFence): OrionError {
  return new OrionError({
    code: 'FENCED',
    message: `The turn ${turnId} does not belong to the owner ${epoch} any more`,
  });
}

async function find(runner: SqlRunner, approvalId: string): Promise<Approval | null> {
  const [row] = await runner.all(`select ${COLUMNS} from approval where approval_id = $1`, [
    approvalId,
  ]);
  return row === undefined ? null : toApproval(row);
}

function toApproval(row: SqlRow): Approval {
  const text = (name: string): string => String(row[name]);
  const textOrNull = (name: string): string | null => (row[name] === null ? null : text(name));
  return {
    approvalId: text('approval_id'),
    turnId: text('turn_id'),
    projectId: text('project_id'),
    conversationId: text('conversation_id'),
    callId: textOrNull('call_id'),
    sessionId: textOrNull('session_id'),
    action: JSON.parse(text('action')) as ApprovalAction,
    hash: text('hash'),
    state: text('state') as ApprovalState,
    reason: textOrNull('reason'),
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
    decidedAt: row['decided_at'] === null ? null : Number(row['decided_at']),
  };
}

import type {
  ClaimedContent,
  DecidedCommit,
  SessionClaim,
  SessionContent,
  SessionOwner,
  SessionTextName,
  StoredSession,
  TurnFence,
} from '@orion/contracts';
import type { SqlDatabase, SqlRow, SqlRunner, SqlValue } from '../engine/sql-database.ts';
import { reportRefusals } from '../engine/reported-database.ts';
import { appendPieces } from './append-pieces.ts';
import {
  fenceOf,
  IS_OF_ITS_TURN,
  IS_OF_THIS_TURN,
  isTaken,
  PLACES,
  placesOf,
  sessionOf,
  sessionSql,
  TEXT_NUMBERS,
  WITH_COMMIT,
} from './session-rows.ts';

/** A piece has at most 1 MiB. */
const PIECES_AT_A_TIME = 8;
/** The rows that are listed, of the workspace $1. */
const LISTED =
  'write_session.root = $1 and write_session.put_away_at is null and write_session.metadata is not null';

/** Write sessions in a database. A statement that looks at an owner also changes what that owner may change. */
export function createSqlSessionContent(database: SqlDatabase): SessionContent {
  const reported = reportRefusals(database);
  const { now, firstEpoch, nextEpoch, isLive, columns, forUpdate } = sessionSql(database.dialect);
  return {
    async begin({ sessionId, root, targetKey, records, fence }) {
      await freeTarget(reported, root, targetKey, fence);
      const { metadata = null, state = null, turn = null } = records ?? {};
      // Whoever owns the same turn, or makes the same call without one, and asks again has not heard that it has begun.
      await reported.run(
        `delete from write_session where write_session.session_id = $1 and write_session.is_owned
           and write_session.content_bytes + write_session.pending_bytes + write_session.trailing_bytes = 0
           and (write_session.turn_id = $2::text and write_session.turn_epoch = $3::bigint
             or $2::text is null and write_session.turn_id is null and write_session.metadata = $4)`,
        [sessionId, ...fenceOf(fence), metadata],
      );
      const [row] = await reported.all(
        `insert into write_session (session_id, root, target_key, epoch, is_owned, turn_id, turn_epoch, beat_at,
           active_at, metadata, state, turn)
         select $1, $2, $3, ${firstEpoch}, true, $4::text, $5::bigint, ${now}, ${now}, $6, $7, $8
         where $4::text is null or exists (select 1 from turn where turn.turn_id = $4::text and turn.epoch = $5::bigint)
         on conflict (root, target_key) where is_owned do nothing
         returning epoch`,
        [sessionId, root, targetKey, ...fenceOf(fence), metadata, state, turn],
      );
      return row === undefined ? null : { sessionId, epoch: Number(row['epoch']) };
    },

    append: (appends) => appendPieces(reported, appends),

    async startOver(owner, generation, state) {
      const rows = await reported.transaction((inside) =>
        startOver(inside, owner, generation, state),
      );
      return rows[0] === undefined ? null : placesOf(rows[0]);
    },

    decide: (owner, commit) => reported.transaction((inside) => decide(inside, owner, commit)),

    async claim(claim) {
      try {
        return await database.transaction((inside) => claimSession(inside, claim));
      } catch (error) {
        if (isTaken(error)) return { kind: 'held' };
        throw error;
      }
    },

    async confirm(owners) {
      if (owners.length === 0) return [];
      const parameters: SqlValue[] = [];
      const of = owners
        .map(({ sessionId, epoch }) => {
          const at = parameters.push(sessionId, epoch);
          return `($${at - 1}, $${at}::bigint)`;
        })
        .join(', ');
      // In the order in which an append locks them: the two must not wait for each other.
      const rows = await reported.all(
        `with held as (
           select session_no, epoch from write_session where (session_id, epoch) in (values ${of})
           order by session_no ${forUpdate}
         )
         update write_session set beat_at = ${now} from held
         where write_session.session_no = held.session_no and write_session.epoch = held.epoch
           and write_session.is_owned and ${IS_OF_ITS_TURN}
         returning write_session.session_id`,
        parameters,
      );
      const alive = new Set(rows.map((row) => row['session_id']));
      return owners.filter(({ sessionId }) => !alive.has(sessionId));
    },

    async release({ sessionId, epoch }) {
      await reported.run(
        `update write_session set is_owned = turn_id is not null, turn_epoch = null, epoch = ${nextEpoch}, beat_at = ${now}
         where session_id = $1 and epoch = $2 and is_owned and metadata is not null`,
        [sessionId, epoch],
      );
      await reported.run(
        'delete from write_session where session_id = $1 and epoch = $2 and metadata is null',
        [sessionId, epoch],
      );
    },

    async remove({ sessionId, epoch }) {
      await reported.transaction(async (inside) => {
        const [row] = await inside.all(
          'delete from write_session where session_id = $1 and epoch = $2 and is_owned returning session_no',
          [sessionId, epoch],
        );
        if (row === undefined) return;
        await removePieces(inside, [row]);
        await inside.run('delete from file_commit where session_id = $1', [sessionId]);
      });
    },

    async putAway(root, sessionId, owner) {
      const changed = await reported.run(
        `update write_session
         set is_owned = false, epoch = ${nextEpoch}, put_away_at = ${now}, active_at = ${now}
         where write_session.root = $1 and write_session.session_id = $2 and write_session.metadata is not null
           and case when $3::bigint is null then not ${isLive} else write_session.epoch = $3 and write_session.is_owned end`,
        [root, sessionId, owner?.epoch ?? null],
      );
      return changed > 0;
    },

    async forget(root, olderThanMs) {
      await reported.transaction(async (inside) => {
        const rows = await inside.all(
          `delete from write_session where root = $1 and put_away_at <= ${now} - $2::bigint and not is_owned
           returning session_no, session_id`,
          [root, olderThanMs],
        );
        await removePieces(inside, rows);
        for (const { session_id: sessionId = null } of rows)
          await inside.run('delete from file_commit where session_id = $1', [sessionId]);
      });
    },

    find: (root, sessionId) => find(reported, root, sessionId),

    async list(root, sessionIds) {
      if (sessionIds?.length === 0) return [];
      const given = sessionIds?.map((_, index) => `$${index + 2}`).join(', ');
      const rows = await reported.all(
        `select ${columns} from write_session ${WITH_COMMIT}
         where ${LISTED} ${given === undefined ? '' : `and write_session.session_id in (${given})`}
         order by write_session.session_no`,
        [root, ...(sessionIds ?? [])],
      );
      return rows.map(sessionOf);
    },

    async ids(root) {
      const rows = await reported.all(`select session_id from write_session where ${LISTED}`, [
        root,
      ]);
      return rows.map(({ session_id: id }) => String(id));
    },

    read: (sessionId, text, start, end) => readPieces(reported, sessionId, text, start, end),
  };
}

/**
 * Whoever held the target and is dead holds it no more; a dead change leaves nothing. What a turn holds, its next owner
 * gets: it is freed for other turns once the turn is over, and for itself once the session was let go.
 */
async function freeTarget(
  runner: SqlRunner,
  root: string,
  targetKey: string,
  fence: TurnFence | null,
): Promise<void> {
  const sql = sessionSql(runner.dialect);
  const rows = await runner.all(
    `update write_session set is_owned = false
     where write_session.root = $1 and write_session.target_key = $2 and write_session.is_owned and (not ${sql.isLive}
       or ${IS_OF_THIS_TURN} and coalesce(write_session.turn_epoch, 0) <> $4::bigint)
     returning write_session.session_no`,
    [root, targetKey, ...fenceOf(fence)],
  );
  for (const { session_no: sessionNo = null } of rows) {
    await runner.run('delete from write_session where session_no = $1 and metadata is null', [
      sessionNo,
    ]);
  }
}

/** A repeat changes nothing and is answered in the same way. */
async function startOver(
  inside: SqlRunner,
  { sessionId, epoch }: SessionOwner,
  generation: number,
  state: string,
): Promise<readonly SqlRow[]> {
  const sql = sessionSql(inside.dialect);
  const [row] = await inside.all(
    `select write_session.session_no, ${PLACES} from write_session
     where write_session.session_id = $1 and write_session.epoch = $2 and write_session.is_owned and ${IS_OF_ITS_TURN} ${sql.forUpdate}`,
    [sessionId, epoch],
  );
  if (row === undefined || Number(row['content_generation']) >= generation)
    return row === undefined ? [] : [row];
  const { session_no: sessionNo = null, trailing_bytes: behind = null } = row;
  await inside.run(
    `update session_piece set text = ${TEXT_NUMBERS.trailing}, generation = 0, at_byte = at_byte + $2::bigint
     where session_no = $1 and text = ${TEXT_NUMBERS.content}`,
    [sessionNo, behind],
  );
  return inside.all(
    `update write_session set content_generation = $2, content_bytes = 0, content_lines = 0,
       content_open = 0, trailing_bytes = trailing_bytes + content_bytes, state = $3, active_at = ${sql.now}
     where write_session.session_no = $1 returning ${PLACES}`,
    [sessionNo, generation, state],
  );
}

/** The turn's row is locked first: whoever acquires it meanwhile waits, or was before. */
async function decide(
  inside: SqlRunner,
  { sessionId, epoch }: SessionOwner,
  commit: DecidedCommit | null,
): Promise<boolean> {
  const sql = sessionSql(inside.dialect);
  await inside.all(
    `select 1 from turn where turn_id = (select turn_id from write_session where session_id = $1) ${sql.forUpdate}`,
    [sessionId],
  );
  const [row] = await inside.all(
    `update write_session set active_at = ${sql.now}
     where write_session.session_id = $1 and write_session.epoch = $2 and write_session.is_owned and ${IS_OF_ITS_TURN}
     returning write_session.root, write_session.turn_id`,
    [sessionId, epoch],
  );
  if (row === undefined) return false;
  if (commit === null) {
    await inside.run('delete from file_commit where session_id = $1', [sessionId]);
    return true;
  }
  const { root = null, turn_id: turnId = null } = row;
  await inside.run(
    `insert into file_commit (session_id, root, turn_id, epoch, path, before_sha256, after_sha256, record, decided_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, ${sql.now})
     on conflict (session_id) do update set epoch = excluded.epoch, path = excluded.path,
       before_sha256 = excluded.before_sha256, after_sha256 = excluded.after_sha256, record = excluded.record,
       decided_at = excluded.decided_at`,
    [sessionId, root, turnId, epoch, commit.path, commit.before, commit.after, commit.record],
  );
  return true;
}

async function claimSession(
  inside: SqlRunner,
  { sessionId, root, targetKey, fence }: SessionClaim,
): Promise<ClaimedContent> {
  const sql = sessionSql(inside.dialect);
  const of = fenceOf(fence);
  // Nobody else is at it for the owner of its turn, who may not have heard that its claim succeeded.
  const [row] = await inside.all(
    `select cast(${sql.isLive} and not coalesce(${IS_OF_THIS_TURN}, false) as integer) as is_busy
     from write_session
     where write_session.session_id = $1 and write_session.root = $2 and write_session.metadata is not null ${sql.forUpdate}`,
    [sessionId, root, ...of],
  );
  if (row === undefined) return { kind: 'missing' };
  if (row['is_busy'] === 1) return { kind: 'busy' };
  await freeTarget(inside, root, targetKey, fence);
  const [claimed] = await inside.all(
    `update write_session
     set epoch = ${sql.nextEpoch}, is_owned = true, turn_id = $3, turn_epoch = $4, target_key = $2, beat_at = ${sql.now},
       put_away_at = null
     where write_session.session_id = $1 returning write_session.epoch`,
    [sessionId, targetKey, ...of],
  );
  const session = await find(inside, root, sessionId);
  if (claimed === undefined || session === null) return { kind: 'missing' };
  return { kind: 'claimed', owner: { sessionId, epoch: Number(claimed['epoch']) }, session };
}

async function find(
  runner: SqlRunner,
  root: string,
  sessionId: string,
): Promise<StoredSession | null> {
  const sql = sessionSql(runner.dialect);
  const [row] = await runner.all(
    `select ${sql.columns}, write_session.turn from write_session ${WITH_COMMIT}
     where write_session.session_id = $1 and write_session.root = $2 and write_session.metadata is not null`,
    [sessionId, root],
  );
  return row === undefined ? null : sessionOf(row);
}

async function removePieces(inside: SqlRunner, sessions: readonly SqlRow[]): Promise<void> {
  for (const { session_no: sessionNo = null } of sessions)
    await inside.run('delete from session_piece where session_no = $1', [sessionNo]);
}

async function* readPieces(
  database: SqlDatabase,
  sessionId: string,
  text: SessionTextName,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const sql = sessionSql(database.dialect);
  const [session] = await database.all(
    `select session_no, ${text}_generation as generation, ${text}_bytes as bytes from write_session where session_id = $1`,
    [sessionId],
  );
  if (session === undefined) return;
  const { session_no: sessionNo = null, generation = null } = session;
  const until = Math.min(end, Number(session['bytes']));
  let position = start;
  while (position < until) {
    const rows = await database.all(
      `select at_byte, ${sql.encoded('data')} as data from session_piece
       where session_no = $1 and text = $2 and generation = $3 and at_byte < $5
         and at_byte >= coalesce((select max(at_byte) from session_piece where session_no = $1 and text = $2
           and generation = $3 and at_byte <= $4), 0)
       order by at_byte limit ${PIECES_AT_A_TIME}`,
      [sessionNo, TEXT_NUMBERS[text], generation, position, until],
    );
    const before = position;
    for (const row of rows) {
      const at = Number(row['at_byte']);
      const data = Buffer.from(String(row['data']), sql.encoding);
      const part = data.subarray(Math.max(0, position - at), Math.max(0, until - at));
      position += part.length;
      if (part.length > 0) yield part;
    }
    // Its text was removed, or begun anew, while it was read.
    if (position === before) return;
  }
}

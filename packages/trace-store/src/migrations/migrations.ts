import type { SqlRunner } from '../engine/sql-database.ts';

/**
 * A step of the schema. A released step is never changed: a later one corrects it.
 *
 * 64-bit numbers and JSON for queries are named differently in each dialect.
 */
export type Migration = {
  readonly version: number;
  readonly name: string;
  /**
   * The oldest version whose programs work with a store that has this step, also those that run while it is taken. Left
   * out: only programs that know the step. Of the steps 1 to 12 nothing was recorded.
   */
  readonly readableBy?: number;
  readonly statements: (dialect: SqlRunner['dialect']) => readonly string[];
};

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'the first schema', statements: firstSchema },
  { version: 2, name: 'when something last happened in a turn', statements: lastActivity },
  { version: 3, name: 'which state a save builds on', statements: conversationRevision },
  { version: 4, name: 'whose store it is', statements: storeOwner },
  { version: 5, name: 'what is known of an output without its text', statements: outputTexts },
  { version: 6, name: 'who owns a turn, and turns by number', statements: turnOwners },
  { version: 7, name: 'turns that clients submit', statements: servedTurns },
  { version: 8, name: 'what turns ask people', statements: approvals },
  {
    version: 9,
    name: 'what a person is shown of a write',
    statements: () => ['alter table approval add column diffs text'],
  },
  { version: 10, name: 'write sessions in rows', statements: writeSessions },
  { version: 11, name: 'what else several hosts share', statements: sharedRecords },
  {
    version: 12,
    name: 'which programs work with a step',
    statements: () => ['alter table schema_step add column readable_by integer'],
  },
  // In Postgres only, where many turns share one log.
  {
    version: 13,
    name: 'what the events of a turn repeat',
    statements: (dialect) =>
      dialect === 'sqlite' ? [] : ['alter table turn add column shared text'],
  },
  {
    version: 14,
    name: 'which turns come first, and what they have spent',
    readableBy: 13,
    statements: fairness,
  },
  {
    version: 15,
    name: 'which turns may be old, and which are to end',
    readableBy: 13,
    statements: oldTurns,
  },
  {
    version: 16,
    name: 'the latest texts of a turn in its own row',
    statements: (dialect) => (dialect === 'sqlite' ? [] : recentEvents()),
  },
];

function firstSchema(dialect: SqlRunner['dialect']): readonly string[] {
  const postgres = dialect === 'postgres';
  const long = postgres ? 'bigint' : 'integer';
  const json = postgres ? 'jsonb' : 'text';
  return [
    `create table trace_event (
      id ${ownId(dialect)},
      type text not null,
      project_id text,
      request_id text,
      session_id text,
      source text,
      summary text,
      direction text,
      tool_name text,
      phase_index integer,
      cycle_index integer,
      timestamp ${long} not null,
      raw text not null,
      body ${json},
      error ${json},
      metadata ${json},
      truncated integer not null,
      uid text
    )`,
    // Makes a batch that is sent again after a lost answer change nothing.
    'create unique index trace_event_uid on trace_event (uid)',
    'create index trace_event_request on trace_event (request_id, id)',
    'create index trace_event_project on trace_event (project_id, id)',
    'create index trace_event_session on trace_event (session_id, id) where session_id is not null',
    // Events arrive roughly in the order of their times: for Postgres a range of pages is enough.
    `create index trace_event_time on trace_event ${postgres ? 'using brin ' : ''}(timestamp)`,

    `create table conversation (
      conversation_id text primary key,
      project_id text not null,
      title text not null,
      messages integer not null,
      created_at ${long} not null,
      updated_at ${long} not null,
      open_session_id text
    )`,
    'create index conversation_newest on conversation (updated_at desc)',
    'create index conversation_project on conversation (project_id, updated_at desc)',
    // Text instead of queryable JSON: a message is read back exactly, U+0000 and lone surrogates included.
    `create table conversation_message (
      conversation_id text not null references conversation (conversation_id),
      position integer not null,
      message text not null,
      primary key (conversation_id, position)
    )`,

    `create table tool_output (
      id text primary key,
      tool_name text not null,
      conversation_id text not null,
      message_id text not null,
      created_at ${long} not null,
      success integer not null,
      parameters text not null,
      output text not null
    )`,
    'create index tool_output_time on tool_output (created_at, id)',
    'create index tool_output_conversation on tool_output (conversation_id, created_at)',

    `create table turn (
      turn_id text primary key,
      epoch ${long} not null,
      last_seq ${long} not null,
      finished_at ${long},
      folded_at ${long}
    )`,
    'create index turn_to_fold on turn (finished_at) where folded_at is null',
    `create table turn_event (
      turn_id text not null,
      seq ${long} not null,
      epoch ${long} not null,
      kind text not null,
      data text not null,
      stored_at ${long} not null,
      primary key (turn_id, seq)
    )`,
  ];
}

/** A turn whose process died has no end: only its last event shows how old it is. */
function lastActivity(dialect: SqlRunner['dialect']): readonly string[] {
  const postgres = dialect === 'postgres';
  const now = postgres ? 'cast(extract(epoch from now()) * 1000 as bigint)' : 'unixepoch() * 1000';
  return [
    `alter table turn add column active_at ${postgres ? 'bigint' : 'integer'} not null default 0`,
    `update turn set active_at = coalesce(
      finished_at,
      (select stored_at from turn_event
       where turn_event.turn_id = turn.turn_id and turn_event.seq = turn.last_seq),
      ${now}
    )`,
    'drop index turn_to_fold',
    'create index turn_to_fold on turn (active_at) where folded_at is null',
  ];
}

/** 0 is a conversation that is not stored yet. */
function conversationRevision(dialect: SqlRunner['dialect']): readonly string[] {
  const long = dialect === 'postgres' ? 'bigint' : 'integer';
  return [`alter table conversation add column revision ${long} not null default 1`];
}

/** One row, written when the store is created: see `engine/inspect-sqlite.ts`. Postgres does not need it. */
function storeOwner(dialect: SqlRunner['dialect']): readonly string[] {
  return dialect === 'postgres'
    ? []
    : ['create table store_owner (id text not null, mac text not null)'];
}

/**
 * The texts of outputs in a table of their own, so that a list does not read them. A removed output keeps its row without
 * a text, for as long as somebody may ask for it.
 */
function outputTexts(dialect: SqlRunner['dialect']): readonly string[] {
  const long = dialect === 'postgres' ? 'bigint' : 'integer';
  return [
    'drop index tool_output_time',
    'drop index tool_output_conversation',
    'alter table tool_output rename to tool_output_before',
    `create table tool_output (
      id text primary key,
      project_id text not null,
      tool_name text not null,
      conversation_id text not null,
      message_id text not null,
      created_at ${long} not null,
      success integer not null,
      bytes ${long} not null,
      characters ${long} not null,
      stored_bytes ${long} not null,
      cut integer not null,
      preview text not null,
      expired_at ${long}
    )`,
    `create table tool_output_text (
      id text primary key,
      parameters text not null,
      output text not null
    )`,
    `insert into tool_output
      select id,
        coalesce((select project_id from conversation
          where conversation.conversation_id = tool_output_before.conversation_id), ''),
        tool_name, conversation_id, message_id, created_at, success,
        octet_length(output), length(output), octet_length(output) + octet_length(parameters), 0,
        substr(output, 1, 500), null
      from tool_output_before`,
    'insert into tool_output_text select id, parameters, output from tool_output_before',
    'drop table tool_output_before',
    'create index tool_output_time on tool_output (created_at, id)',
    'create index tool_output_conversation on tool_output (conversation_id, created_at)',
    'create index tool_output_project on tool_output (project_id, created_at)',
  ];
}

/**
 * Turns get a number, which their events carry in place of the longer id. No index contains what every append changes,
 * and half of each page is free for new versions of its rows: then Postgres updates a turn without touching an index.
 */
function turnOwners(dialect: SqlRunner['dialect']): readonly string[] {
  const postgres = dialect === 'postgres';
  const long = postgres ? 'bigint' : 'integer';
  return [
    'drop index turn_to_fold',
    'alter table turn rename to turn_before',
    'alter table turn_event rename to turn_event_before',
    `create table turn (
      turn_no ${ownId(dialect)},
      turn_id text not null unique,
      epoch ${long} not null,
      attempt integer not null default 0,
      last_seq integer not null,
      active_at ${long} not null,
      finished_at ${long},
      folded_at ${long},
      cancel_requested_at ${long},
      checkpoint text
    )${postgres ? ' with (fillfactor = 50)' : ''}`,
    `insert into turn (turn_id, epoch, last_seq, active_at, finished_at, folded_at)
      select turn_id, epoch, last_seq, active_at, finished_at, folded_at
      from turn_before order by active_at, turn_id`,
    `create table turn_event (
      turn_no ${long} not null,
      epoch ${long} not null,
      stored_at ${long} not null,
      seq integer not null,
      kind text not null,
      data text not null,
      primary key (turn_no, seq)
    )${postgres ? '' : ' without rowid'}`,
    `insert into turn_event (turn_no, epoch, stored_at, seq, kind, data)
      select turn.turn_no, before.epoch, before.stored_at, before.seq, before.kind, before.data
      from turn_event_before as before join turn on turn.turn_id = before.turn_id
      order by turn.turn_no, before.seq`,
    'drop table turn_event_before',
    'drop table turn_before',
    'create index turn_not_folded on turn (turn_no) where folded_at is null',
  ];
}

/**
 * `state` is null in the turns of commands, 0 where a turn waits, 1 where it has an owner; a turn with `finished_at` is
 * over. Neither index contains what an append changes.
 */
function servedTurns(dialect: SqlRunner['dialect']): readonly string[] {
  const long = dialect === 'postgres' ? 'bigint' : 'integer';
  const column = (definition: string): string => `alter table turn add column ${definition}`;
  return [
    column('state integer'),
    column('idle_attempts integer not null default 0'),
    column('project_id text'),
    column('conversation_id text'),
    column('mode text'),
    column('protocol text'),
    column('request text'),
    column(`created_at ${long}`),
    column('status text'),
    `create unique index turn_one_per_conversation on turn (conversation_id)
      where state is not null and finished_at is null`,
    'create index turn_served on turn (turn_no) where state is not null',
    `create table request_key (
      project_id text not null,
      key text not null,
      route text not null,
      body_sha256 text not null,
      made text not null,
      created_at ${long} not null,
      primary key (project_id, key)
    )`,
    'create index request_key_time on request_key (created_at)',
    // Written by the process that serves the store, for those that find it served.
    'create table serving (id text not null, pid integer not null, host text not null, url text)',
  ];
}

/** `subject`: the call or the session that waits. What was withdrawn may be asked again. */
function approvals(dialect: SqlRunner['dialect']): readonly string[] {
  const long = dialect === 'postgres' ? 'bigint' : 'integer';
  return [
    `create table approval (
      approval_no ${ownId(dialect)},
      approval_id text not null unique,
      turn_id text not null,
      subject text not null,
      project_id text not null,
      conversation_id text not null,
      call_id text,
      session_id text,
      action text not null,
      hash text not null,
      state text not null,
      reason text,
      created_at ${long} not null,
      expires_at ${long} not null,
      decided_at ${long}
    )`,
    `create unique index approval_asked on approval (turn_id, subject, hash)
      where state <> 'withdrawn'`,
    "create index approval_pending on approval (approval_no) where state = 'pending'",
  ];
}

/**
 * In Postgres only: of a store in SQLite one process has the sessions, in directories. A row without `metadata` is no
 * session, but a change that holds its target. Texts lie in pieces, numbered 0 (content), 1 (pending) and 2 (trailing).
 */
function writeSessions(dialect: SqlRunner['dialect']): readonly string[] {
  return dialect === 'sqlite' ? [] : sessionTables(dialect);
}

function sessionTables(dialect: SqlRunner['dialect']): readonly string[] {
  const place = (text: string): string =>
    `${text}_generation integer not null default 0, ${text}_bytes bigint not null default 0`;
  return [
    `create table write_session (
      session_no ${ownId(dialect)},
      session_id text not null unique,
      root text not null,
      target_key text not null,
      epoch bigint not null,
      is_owned boolean not null,
      turn_id text,
      turn_epoch bigint,
      beat_at bigint not null,
      active_at bigint not null,
      put_away_at bigint,
      ${place('content')},
      content_lines bigint not null default 0,
      content_open integer not null default 0,
      ${place('pending')},
      ${place('trailing')},
      metadata text,
      state text,
      turn text
    )${dialect === 'postgres' ? ' with (fillfactor = 50)' : ''}`,
    'create unique index write_session_target on write_session (root, target_key) where is_owned',
    `create table session_piece (
      session_no bigint not null,
      text smallint not null,
      generation integer not null,
      at_byte bigint not null,
      data bytea not null,
      primary key (session_no, text, generation, at_byte)
    )`,
    `create table file_commit (
      session_id text primary key,
      root text not null,
      turn_id text,
      epoch bigint not null,
      path text not null,
      before_sha256 text,
      after_sha256 text not null,
      record text not null,
      decided_at bigint not null
    )`,
  ];
}

/** Backups and the log-ins of the page, in Postgres only. */
function sharedRecords(dialect: SqlRunner['dialect']): readonly string[] {
  return dialect === 'sqlite' ? [] : recordTables(dialect);
}

function recordTables(dialect: SqlRunner['dialect']): readonly string[] {
  return [
    `create table shared_record (
      record_no ${ownId(dialect)},
      root text not null,
      kind text not null,
      name text not null,
      text text not null,
      is_whole boolean not null,
      stored_at bigint not null
    )`,
    'create unique index shared_record_name on shared_record (root, kind, name) where is_whole',
    `create table shared_piece (
      record_no bigint not null,
      at_byte bigint not null,
      data bytea not null,
      primary key (record_no, at_byte)
    )`,
  ];
}

/** The tables of sessions and records, for a database that `migrate` does not give them: a simulated one in SQLite. */
export function sharedTables(dialect: SqlRunner['dialect']): readonly string[] {
  return [...sessionTables(dialect), ...recordTables(dialect)];
}

/** `priority`: 0 interactive, 1 batch. No index has what an append to a turn changes before its end. */
function fairness(dialect: SqlRunner['dialect']): readonly string[] {
  const long = dialect === 'postgres' ? 'bigint' : 'integer';
  return [
    'alter table turn add column priority integer not null default 0',
    `alter table turn add column tokens ${long} not null default 0`,
    'create index turn_waiting on turn (project_id) where state = 0 and finished_at is null',
    `create index turn_spent on turn (project_id, finished_at, tokens) where tokens > 0`,
    // The end of a turn adds up what it has used, without reading all that it said.
    `create index turn_usage on turn_event (turn_no) where kind = 'usage'`,
  ];
}

/**
 * The turns that may be folded, by a time after which something happened in them: their end, or their beginning where
 * there is none. (Earlier programs did not store when a command began its turn.) And those that are to end. No append
 * changes any of this before the end of its turn.
 */
function oldTurns(): readonly string[] {
  return [
    `create index turn_to_fold on turn (coalesce(finished_at, created_at, 0))
      where folded_at is null and (state is null or finished_at is not null)`,
    `create index turn_cancelled on turn (turn_no)
      where cancel_requested_at is not null and finished_at is null`,
  ];
}

/**
 * What every append changes stands at the end of a row, and the texts last, the newest first: Postgres then writes ahead
 * only what is new. They are never compressed or moved to another table, which would change all of them.
 */
function recentEvents(): readonly string[] {
  const last = (column: string, type: string): readonly string[] => [
    `alter table turn rename column ${column} to ${column}_before`,
    `alter table turn add column ${column} ${type}`,
  ];
  return [
    'alter table turn add column recent_form text',
    ...last('last_seq', 'integer'),
    ...last('active_at', 'bigint'),
    'update turn set last_seq = last_seq_before, active_at = active_at_before',
    ...['last_seq', 'active_at'].flatMap((column) => [
      `alter table turn alter column ${column} set not null`,
      `alter table turn drop column ${column}_before`,
    ]),
    'alter table turn add column recent text',
    'alter table turn alter column recent set storage plain',
  ];
}

function ownId(dialect: SqlRunner['dialect']): string {
  return dialect === 'postgres'
    ? 'bigint generated always as identity primary key'
    : 'integer primary key autoincrement';
}

import { countLineFeeds } from '@orion/contracts';
import type {
  SessionAppend,
  SessionAppended,
  SessionPiece,
  SessionTextName,
} from '@orion/contracts';
import type {
  SqlDatabase,
  SqlRow,
  SqlRunner,
  SqlScalar,
  SqlValue,
} from '../engine/sql-database.ts';
import { IS_OF_ITS_TURN, PLACES, placesOf, sessionSql, TEXT_NUMBERS } from './session-rows.ts';

const TEXTS: readonly SessionTextName[] = ['content', 'pending', 'trailing'];
const LINE_FEED = 0x0a;

/**
 * Appends to many sessions at once, on Postgres with one statement, each with an outcome of its own.
 *
 * 1. The check of the owner, of its turn and of each place, the pieces and the records are atomic.
 * 2. What was not stored has changed nothing, and has not kept anything else from being stored.
 */
export async function appendPieces(
  database: SqlDatabase,
  appends: readonly SessionAppend[],
): Promise<readonly SessionAppended[]> {
  if (appends.length === 0) return [];
  const stored = bySession(
    database.dialect === 'sqlite'
      ? await database.transaction((inside) => putSqlite(inside, appends))
      : await putPostgres(database, appends),
  );
  const others = appends.map(({ owner }) => owner.sessionId).filter((id) => !stored.has(id));
  const found = others.length === 0 ? new Map<string, SqlRow>() : await look(database, others);
  return appends.map(({ owner: { sessionId, epoch } }): SessionAppended => {
    const row = stored.get(sessionId);
    if (row !== undefined) return { kind: 'stored', places: placesOf(row) };
    const other = found.get(sessionId);
    return other?.['epoch'] === epoch
      ? { kind: 'elsewhere', places: placesOf(other) }
      : { kind: 'fenced' };
  });
}

type Column = {
  readonly name: string;
  readonly type: string;
  readonly values: readonly SqlScalar[];
};

/** What is appended, one value for each append. */
function columnsOf(appends: readonly SessionAppend[]): readonly Column[] {
  const columns: Column[] = [];
  const column = (name: string, type: string, values: readonly SqlScalar[]): void => {
    columns.push({ name, type, values });
  };
  column(
    'session_id',
    'text',
    appends.map(({ owner }) => owner.sessionId),
  );
  column(
    'epoch',
    'bigint',
    appends.map(({ owner }) => owner.epoch),
  );
  column(
    'state',
    'text',
    appends.map(({ state = null }) => state),
  );
  column(
    'turn',
    'text',
    appends.map(({ turn = null }) => turn),
  );
  for (const text of TEXTS) {
    const of = (value: (piece: SessionPiece) => number): (number | null)[] =>
      appends.map(({ pieces }) => (pieces[text] === undefined ? null : value(pieces[text])));
    column(
      `${text}_generation`,
      'integer',
      of(({ generation }) => generation),
    );
    column(
      `${text}_at`,
      'bigint',
      of(({ at }) => at),
    );
    column(
      `${text}_length`,
      'integer',
      of(({ bytes }) => bytes.length),
    );
  }
  const content = appends.map(({ pieces }) => pieces.content?.bytes ?? new Uint8Array());
  column('lines', 'integer', content.map(countLineFeeds));
  column(
    'is_open',
    'integer',
    content.map((bytes) => (bytes.length === 0 ? null : bytes.at(-1) === LINE_FEED ? 0 : 1)),
  );
  return columns;
}

type Piece = {
  readonly place: number;
  readonly text: number;
  readonly generation: number;
  readonly at: number;
  readonly data: Buffer;
};

function piecesOf(appends: readonly SessionAppend[]): readonly Piece[] {
  return appends.flatMap((append, index) =>
    TEXTS.flatMap((text) => {
      const piece = append.pieces[text];
      if (piece === undefined || piece.bytes.length === 0) return [];
      const data = Buffer.from(piece.bytes.buffer, piece.bytes.byteOffset, piece.bytes.length);
      const { generation, at } = piece;
      return [{ place: index + 1, text: TEXT_NUMBERS[text], generation, at, data }];
    }),
  );
}

/** The sessions to which something was stored. */
function putPostgres(
  database: SqlRunner,
  appends: readonly SessionAppend[],
): Promise<readonly SqlRow[]> {
  const parameters: SqlValue[] = [];
  const add = (type: string, values: readonly SqlScalar[]): string =>
    `$${parameters.push(values)}::${type}[]`;
  const columns = columnsOf(appends);
  const given = columns.map(({ type, values }) => add(type, values));
  const pieces = piecesOf(appends);
  const piece = [
    add(
      'integer',
      pieces.map(({ place }) => place),
    ),
    add(
      'smallint',
      pieces.map(({ text }) => text),
    ),
    add(
      'integer',
      pieces.map(({ generation }) => generation),
    ),
    add(
      'bigint',
      pieces.map(({ at }) => at),
    ),
    add(
      'text',
      pieces.map(({ data }) => data.toString('base64')),
    ),
  ].join(', ');
  return database.all(
    `with given as (
       select * from unnest(${given.join(', ')}) with ordinality as given (${columns.map(({ name }) => name).join(', ')}, place)
     ), batch as (
       select given.* from given join write_session on write_session.session_id = given.session_id
       order by write_session.session_no for update of write_session
     ), moved as (
       ${moveFrom('batch', 'postgres')}
       returning write_session.session_no, write_session.session_id, ${PLACES}, batch.place, batch.pending_at
     ), stored as (
       insert into session_piece (session_no, text, generation, at_byte, data)
       select moved.session_no, piece.text, piece.generation, piece.at_byte, decode(piece.data, 'base64')
       from unnest(${piece}) as piece (place, text, generation, at_byte, data)
       join moved on moved.place = piece.place
     ), dropped as (
       delete from session_piece using moved
       where moved.pending_at = 0 and session_piece.session_no = moved.session_no
         and session_piece.text = ${TEXT_NUMBERS.pending}
         and session_piece.generation < moved.pending_generation
     )
     select * from moved`,
    parameters,
  );
}

/** One after the other, in a transaction: SQLite has no statement that does all of it. */
async function putSqlite(
  inside: SqlRunner,
  appends: readonly SessionAppend[],
): Promise<readonly SqlRow[]> {
  const moved: SqlRow[] = [];
  for (const append of appends) {
    const columns = columnsOf([append]);
    const batch = columns.map(({ name }, index) => `$${index + 1} as ${name}`).join(', ');
    const [row] = await inside.all(
      `${moveFrom(`(select ${batch}) as batch`, 'sqlite')}
       returning write_session.session_no, write_session.session_id, ${PLACES}`,
      columns.map(({ values: [value = null] }) => value),
    );
    if (row === undefined) continue;
    moved.push(row);
    const { session_no: sessionNo = null, pending_generation: generation = null } = row;
    for (const piece of piecesOf([append]))
      await inside.run(
        `insert into session_piece (session_no, text, generation, at_byte, data)
         values ($1, $2, $3, $4, unhex($5))`,
        [sessionNo, piece.text, piece.generation, piece.at, piece.data.toString('hex')],
      );
    if (append.pieces.pending?.at === 0)
      await inside.run(
        'delete from session_piece where session_no = $1 and text = $2 and generation < $3',
        [sessionNo, TEXT_NUMBERS.pending, generation],
      );
  }
  return moved;
}

/** Moves the ends of sessions whose owner may, by what `batch` has: the one place that makes the checks. */
function moveFrom(batch: string, dialect: SqlRunner['dialect']): string {
  return `update write_session set
      ${TEXTS.map(moveText).join(', ')},
      content_lines = case when batch.content_at = 0 then 0 else write_session.content_lines end + batch.lines,
      content_open = coalesce(batch.is_open, case when batch.content_at = 0 then 0 end, write_session.content_open),
      state = coalesce(batch.state, write_session.state), turn = coalesce(batch.turn, write_session.turn),
      active_at = ${sessionSql(dialect).now}
    from ${batch}
    where write_session.session_id = batch.session_id and write_session.epoch = batch.epoch and write_session.is_owned
      and ${TEXTS.map(isInPlace).join(' and ')} and ${IS_OF_ITS_TURN}`;
}

function moveText(text: SessionTextName): string {
  return `${text}_generation = coalesce(batch.${text}_generation, write_session.${text}_generation),
    ${text}_bytes = coalesce(batch.${text}_at + batch.${text}_length, write_session.${text}_bytes)`;
}

function isInPlace(text: SessionTextName): string {
  return `(batch.${text}_generation is null
    or (batch.${text}_generation = write_session.${text}_generation and batch.${text}_at = write_session.${text}_bytes)
    or (batch.${text}_generation > write_session.${text}_generation and batch.${text}_at = 0))`;
}

/** Why nothing was stored: where the texts of these sessions end, as long as their turns are the ones they had. */
async function look(
  database: SqlRunner,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, SqlRow>> {
  const places = sessionIds.map((_, index) => `$${index + 1}`).join(', ');
  return bySession(
    await database.all(
      `select write_session.session_id, write_session.epoch, ${PLACES} from write_session
       where write_session.session_id in (${places}) and write_session.is_owned and ${IS_OF_ITS_TURN}`,
      sessionIds,
    ),
  );
}

function bySession(rows: readonly SqlRow[]): ReadonlyMap<string, SqlRow> {
  return new Map(rows.map((row) => [String(row['session_id']), row]));
}

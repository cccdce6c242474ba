import type { OrionError, RecordPlace, SharedRecords } from '@orion/contracts';
import { storeUnavailable } from '../engine/sql-database.ts';
import type { SqlDatabase, SqlRunner, SqlScalar } from '../engine/sql-database.ts';
import { sessionSql } from './session-rows.ts';

const PIECE_BYTES = 256 * 1024;
/** What a process left that died while it stored a record. */
const HALF_MADE_MS = 60 * 60 * 1000;
/** Looked for with the first record that a process stores, and then so seldom: it takes longer the more there are. */
const TIDY_EVERY = 100;

/**
 * Shared records in a database.
 *
 * 1. The bytes are stored piece by piece under a number that no name has yet. The last statement gives it the name.
 *    A process that stood still for so long that others have removed the number stores nothing: what had the name stays.
 * 2. A record that lost its name goes with its bytes. Whoever reads it then hears of it, and takes no part for the whole.
 */
export function createSqlSharedRecords(database: SqlDatabase): SharedRecords {
  const { now, encoded, encoding } = sessionSql(database.dialect);
  let stored = 0;
  return {
    async put({ root, kind }, name, text, bytes) {
      if (stored % TIDY_EVERY === 0)
        await removeRecords(database, `not is_whole and stored_at < ${now} - ${HALF_MADE_MS}`, []);
      stored += 1;
      const [row] = await database.all(
        `insert into shared_record (root, kind, name, text, is_whole, stored_at)
         values ($1, $2, $3, $4, false, ${now}) returning record_no`,
        [root, kind, name, text],
      );
      const { record_no: number = null } = row ?? {};
      try {
        if (bytes !== undefined) await putBytes(database, number, bytes);
        await database.transaction(async (inside) => {
          await lockName(inside, { root, kind }, name);
          await removeRecords(inside, NAMED, [root, kind, name]);
          const naming = 'update shared_record set is_whole = true where record_no = $1';
          if ((await inside.run(naming, [number])) === 0) throw tidiedAway();
        });
      } catch (error) {
        await removeUnnamed(database, number).catch(() => undefined);
        throw error;
      }
    },

    async update({ root, kind }, name, change) {
      await database.transaction(async (inside) => {
        await lockName(inside, { root, kind }, name);
        const key = [root, kind, name];
        const [row] = await inside.all(`select text from shared_record where ${NAMED}`, key);
        const text = change(row === undefined ? null : String(row['text']));
        await inside.run(
          row === undefined
            ? `insert into shared_record (root, kind, name, text, is_whole, stored_at)
               values ($1, $2, $3, $4, true, ${now})`
            : `update shared_record set text = $4, stored_at = ${now} where ${NAMED}`,
          [...key, text],
        );
      });
    },

    async get({ root, kind }, name) {
      const [row] = await database.all(`select text from shared_record where ${NAMED}`, [
        root,
        kind,
        name,
      ]);
      return row === undefined ? null : String(row['text']);
    },

    async names({ root, kind }) {
      const rows = await database.all(
        `select name from shared_record where root = $1 and kind = $2 and is_whole
         order by record_no desc`,
        [root, kind],
      );
      return rows.map((row) => String(row['name']));
    },

    async list({ root, kind }, names) {
      const places = names?.map((_, index) => `$${index + 3}`).join(', ');
      const which = places === undefined ? '' : `and name in (${places === '' ? 'null' : places})`;
      const rows = await database.all(
        `select name, text, ${now} - stored_at as age from shared_record
         where root = $1 and kind = $2 and is_whole ${which}`,
        [root, kind, ...(names ?? [])],
      );
      return rows.map(({ name = null, text = null, age = null }) => ({
        name: String(name),
        text: String(text),
        ageMs: Number(age),
      }));
    },

    async *read({ root, kind }, name) {
      const [record] = await database.all(
        `select record_no, coalesce((
           select at_byte + octet_length(data) from shared_piece
           where shared_piece.record_no = shared_record.record_no order by at_byte desc limit 1), 0) as bytes
         from shared_record where ${NAMED}`,
        [root, kind, name],
      );
      const { record_no: number = null, bytes = 0 } = record ?? {};
      for (let at = 0; at < Number(bytes);) {
        const [row] = await database.all(
          `select ${encoded('data')} as data from shared_piece where record_no = $1 and at_byte = $2`,
          [number, at],
        );
        if (row === undefined)
          throw storeUnavailable('A record was replaced or removed while it was read', {
            retryable: true,
          });
        const data = Buffer.from(String(row['data']), encoding);
        at += data.length;
        yield data;
      }
    },

    async remove({ root, kind }, name) {
      await removeRecords(database, NAMED, [root, kind, name]);
    },
  };
}

/** Of two that store the same name at once, the second one waits here. SQLite has one writer at a time. */
async function lockName(inside: SqlRunner, place: RecordPlace, name: string): Promise<void> {
  if (inside.dialect !== 'postgres') return;
  await inside.all(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    JSON.stringify([place.root, place.kind, name]),
  ]);
}

const NAMED = 'root = $1 and kind = $2 and name = $3 and is_whole';

async function removeRecords(
  runner: SqlRunner,
  which: string,
  parameters: readonly SqlScalar[],
): Promise<void> {
  if (runner.dialect === 'postgres') {
    await runner.run(
      `with removed as (delete from shared_record where ${which} returning record_no)
       delete from shared_piece using removed where shared_piece.record_no = removed.record_no`,
      parameters,
    );
    return;
  }
  const removed = await runner.all(
    `delete from shared_record where ${which} returning record_no`,
    parameters,
  );
  for (const { record_no: number = null } of removed)
    await runner.run('delete from shared_piece where record_no = $1', [number]);
}

/** Also pieces that came after others had removed what was stored of it. A name that it may have after all is kept. */
async function removeUnnamed(database: SqlRunner, number: SqlScalar): Promise<void> {
  await removeRecords(database, 'record_no = $1 and not is_whole', [number]);
  await database.run(
    `delete from shared_piece where record_no = $1
     and not exists (select 1 from shared_record where shared_record.record_no = $1)`,
    [number],
  );
}

function tidiedAway(): OrionError {
  return storeUnavailable(
    'Storing a record took so long that others removed what was stored of it',
    {
      retryable: true,
    },
  );
}

async function putBytes(
  database: SqlRunner,
  number: SqlScalar,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { encoding, decoded } = sessionSql(database.dialect);
  let at = 0;
  let waiting: Uint8Array[] = [];
  let length = 0;
  const put = async (): Promise<void> => {
    const piece = Buffer.concat(waiting);
    waiting = [];
    length = 0;
    if (piece.length === 0) return;
    await database.run(
      `insert into shared_piece (record_no, at_byte, data) values ($1, $2, ${decoded('$3')})`,
      [number, at, piece.toString(encoding)],
    );
    at += piece.length;
  };
  for await (const chunk of bytes) {
    // A chunk may be used again by its source.
    waiting.push(Uint8Array.from(chunk));
    length += chunk.length;
    if (length >= PIECE_BYTES) await put();
  }
  await put();
}

import { SqlRefusedError, storeUnavailable } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

/**
 * The same database for callers that cannot correct a statement: a refusal (a dropped table, a text that the database
 * cannot store) becomes `STORE_UNAVAILABLE` instead of a defect that ends the turn.
 */
export function reportRefusals(database: SqlDatabase): SqlDatabase {
  const reported = async <Result>(result: Promise<Result>): Promise<Result> => {
    try {
      return await result;
    } catch (error) {
      if (!(error instanceof SqlRefusedError)) throw error;
      throw storeUnavailable(error.message, { reason: error.reason, retryable: false });
    }
  };
  const { raw } = database;
  return {
    dialect: database.dialect,
    ...(raw === undefined ? {} : { raw: (text, values) => reported(raw(text, values)) }),
    run: (sql, parameters) => reported(database.run(sql, parameters)),
    all: (sql, parameters) => reported(database.all(sql, parameters)),
    transaction: (work, options) => reported(database.transaction(work, options)),
    listen: (channel, onMessage) => database.listen(channel, onMessage),
    takeLock: (options) => reported(database.takeLock(options)),
    close: (cut) => database.close(cut),
  };
}

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
  return {
    dialect: database.dialect,
    run: (sql, parameters) => reported(database.run(sql, parameters)),
    all: (sql, parameters) => reported(database.all(sql, parameters)),
    transaction: (work) => reported(database.transaction(work)),
    listen: (channel, onMessage) => database.listen(channel, onMessage),
    close: (cut) => database.close(cut),
  };
}

import { SqlRefusedError, storeUnavailable } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

/**
 * The same database for callers that cannot mend a statement: what it refused (a table that somebody dropped, a
 * text that it cannot hold) is `STORE_UNAVAILABLE` to them, and not a defect that ends a turn.
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

import type { StoreTransaction, TransactionOutcome } from '@orion/contracts';
import { isUnavailable } from './sql-database.ts';
import type { SqlDatabase, SqlRunner } from './sql-database.ts';

/** A transaction in which a queue takes part, and hears of its end. */
export async function storeTransaction<Result>(
  database: SqlDatabase,
  work: (inside: SqlRunner, transaction: StoreTransaction) => Promise<Result>,
): Promise<Result> {
  const callbacks: ((outcome: TransactionOutcome) => void)[] = [];
  let outcome: TransactionOutcome = 'undone';
  try {
    const result = await database.transaction((inside) =>
      work(inside, {
        all: (sql, parameters) => inside.all(sql, parameters),
        onEnd: (callback) => void callbacks.push(callback),
      }),
    );
    outcome = 'committed';
    return result;
  } catch (error) {
    if (isUnavailable(error)) outcome = 'unknown';
    throw error;
  } finally {
    for (const callback of callbacks) callback(outcome);
  }
}

import type { SqlDatabase, SqlRunner } from '../engine/sql-database.ts';

/** The same database, which fails when a statement begins, or a transaction ends, before the last statement has ended. */
export function oneAtATime(database: SqlDatabase): SqlDatabase {
  return {
    ...watched(database),
    transaction: (work) =>
      database.transaction(async (inside) => {
        const runner = watched(inside);
        const result = await work(runner);
        runner.requireIdle();
        return result;
      }),
    listen: (channel, onMessage) => database.listen(channel, onMessage),
    takeLock: (options) => database.takeLock(options),
    close: (cut) => database.close(cut),
  };
}

function watched(runner: SqlRunner): SqlRunner & { requireIdle(): void } {
  let idle = true;
  const requireIdle = (): void => {
    if (!idle) throw new Error('A statement is still under way');
  };
  const alone = async <Result>(use: () => Promise<Result>): Promise<Result> => {
    requireIdle();
    idle = false;
    await new Promise(setImmediate);
    try {
      return await use();
    } finally {
      idle = true;
    }
  };
  return {
    dialect: runner.dialect,
    run: (sql, parameters) => alone(() => runner.run(sql, parameters)),
    all: (sql, parameters) => alone(() => runner.all(sql, parameters)),
    requireIdle,
  };
}

import { randomBytes, randomUUID } from 'node:crypto';

import { RolledBack } from './sql-database.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Text of so many random bytes does not fit into what is free of a page that is in use. */
const ROOM_BYTES = 6 * 1024;

/**
 * Finds out whether a database takes what is written.
 *
 * 1. A statement that changes nothing is refused where nothing may be changed: by a standby, in a database or for a user
 *    that was made read-only.
 * 2. A Postgres without room takes that one. So after an attempt that failed it is tried with something that needs room,
 *    until there is some; it is undone. SQLite would keep it in memory, and its file is on a disk that can be looked at.
 */
export class WriteTrial {
  #hasFailed = false;

  /** See `DatabaseObserver`. */
  observe(attempt: Promise<unknown>): void {
    attempt.catch(() => (this.#hasFailed = true));
  }

  /** Rejects with the error of the database. */
  async run(database: SqlDatabase): Promise<void> {
    await database.run(`delete from serving where id = ''`);
    if (!this.#hasFailed || database.dialect === 'sqlite') return;
    await needRoom(database);
    this.#hasFailed = false;
  }
}

async function needRoom(database: SqlDatabase): Promise<void> {
  const undone = new RolledBack();
  try {
    await database.transaction(async (inside) => {
      await inside.run('insert into serving (id, pid, host) values ($1, 0, $2)', [
        randomUUID(),
        randomBytes(ROOM_BYTES).toString('base64'),
      ]);
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
}

import type { SqlRunner } from '../engine/sql-database.ts';

/** Until the end of the transaction, for whoever holds names in the same order. SQLite has one writer at a time. */
export async function holdName(inside: SqlRunner, name: string): Promise<void> {
  if (inside.dialect === 'sqlite') return;
  await inside.all('select pg_advisory_xact_lock(hashtextextended($1, 7306127450213))', [name]);
}
